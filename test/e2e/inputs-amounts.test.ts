import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LedgerUnderTest, NO_DRIFT, atOnce } from './harness.js';
import { availableOnKafka } from './topic.js';

/* Money, to the unit: what is no amount, amounts that no floating point number holds, many small ones, two units. */

let ledger: LedgerUnderTest;
beforeAll(async () => {
  ledger = await LedgerUnderTest.start();
  await ledger.open('strict', '1000');
  await ledger.reserve('strict', { id: 'open', amount: '10' });
});
afterAll(() => ledger.stop());

/** As JSON text, for JSON.stringify would not write most of them. */
const NO_AMOUNTS = [
  ...['-1', '"-1"', '0.5', '"0.5"', '1.0', '1e309', '1e3', '"1e3"', 'NaN', '"NaN"', 'Infinity', '""', '" 5"', '"5 "'],
  ...['"+5"', '"05"', '"-0"', '"0x10"', '"1_000"', '"٣"', '"9223372036854775808"', '9223372036854775808'],
  ...['9007199254740993', '"99999999999999999999999999"', 'true', 'null', '[]', '{}', '[5]'],
];

describe('10. what is no amount', () => {
  const places: readonly [string, string, (text: string) => string, string][] = [
    ['a reserve', '/v1/reservations', (text) => `{"id":"bad","amount":${text}}`, 'amount'],
    ['a reserve by unit', '/v1/reservations', (text) => `{"id":"bad","amounts":{"USD":${text}}}`, 'amounts.USD'],
    ['a finalize', '/v1/reservations/open/finalize', (text) => `{"amount":${text}}`, 'amount'],
    ['a recharge', '/v1/accounts/strict/recharges', (text) => `{"id":"bad","amount":${text}}`, 'amount'],
    ['an overdraft', '/v1/accounts', (text) => `{"id":"strict/x","unit":"USD","overdraft_limit":${text}}`, 'overdraft_limit'],
    ['a max_cost', '/v1/models/gpt/max-cost', (text) => `{"amounts":{"USD":${text}}}`, 'amounts.USD'],
  ]; // prettier-ignore

  test.each(places)('in %s is a 400 that names the field, and changes nothing', async (_what, path, body, field) => {
    const before = await ledger.events('strict');
    const method = path.endsWith('max-cost') ? 'PUT' : 'POST';
    for (const text of NO_AMOUNTS) {
      const answer = await ledger.ask(method, path, 'strict', body(text));
      expect(answer.status, text).toBe(400);
      expect(answer.headers.get('content-type'), text).toContain('application/problem+json');
      // NaN and Infinity are not even JSON: then there is no field to name.
      if (/^(NaN|Infinity)/.test(text)) expect(answer.body, text).toMatchObject({ code: 'invalid_json' });
      else expect(answer.body, text).toMatchObject({ code: 'invalid_request', field });
    }
    expect(await ledger.events('strict')).toEqual(before);
    expect((await ledger.get('/v1/models/gpt', 'strict')).status).toBe(404);
  });

  test('a recharge of 0 neither; a reserve of 0 and a safe whole number are fine', async () => {
    const recharge = await ledger.post('/v1/accounts/strict/recharges', 'strict', { id: 'zero', amount: '0' });
    expect(recharge).toMatchObject({ status: 400, body: { field: 'amount' } });
    expect((await ledger.reserve('strict', { id: 'zero', amount: 0 })).status).toBe(201);
    expect((await ledger.reserve('strict', { id: 'five', amount: 5 })).status).toBe(201);
  });

  test('a recharge past 2^63 − 1 in sum is amount_overflow, and changes nothing', async () => {
    await ledger.open('rich', '9223372036854775807');
    const before = await ledger.balance('rich');
    expect(await ledger.post('/v1/accounts/rich/recharges', 'rich', { id: 'more', amount: '1' })).toMatchObject({
      status: 422,
      body: { code: 'amount_overflow', account: 'rich', bucket: 'available' },
    });
    expect(await ledger.balance('rich')).toEqual(before);
    expect(await ledger.balanceInRedis('rich')).toEqual(before);
    expect(await ledger.events('rich')).toHaveLength(2);
    expect((await ledger.reserve('rich', { id: 'all', amount: '9223372036854775807' })).status).toBe(201);
    expect(await ledger.balanceInRedis('rich')).toMatchObject({ available: '0', held: '9223372036854775807' });
    expect((await ledger.onReservation('refund', 'rich', 'all', { reason: 'failed' })).status).toBe(200);
  });
});

test('11. recharge 9007199254740993, reserve 1: 9007199254740992 to the unit in HTTP, Redis, SQL and Kafka', async () => {
  await ledger.open('wide', '9007199254740993');
  expect((await ledger.reserve('wide', { id: 'r1', amount: '1', level: 'replicated' })).status).toBe(201);
  const left = { available: '9007199254740992', held: '1', used: '0', funded: '-9007199254740993' };
  expect(await ledger.balance('wide')).toEqual(left);
  expect(await ledger.balanceInRedis('wide')).toEqual(left);
  expect(await ledger.balanceInSql('wide')).toEqual(left);
  expect(await availableOnKafka(ledger, 'wide')).toBe(9_007_199_254_740_992n);
});

test('16. 10,000 × reserve and finalize of 0.07 dollars: exact', async () => {
  await ledger.open('pennies', '700000000');
  const pairs = (from: number) =>
    Array.from({ length: 50 }, (_, n) => {
      const of = { tenant: 'pennies', id: `r${from + n}`, amount: '70000' };
      return [
        { op: 'reserve', ...of },
        { op: 'finalize', ...of },
      ];
    }).flat();
  for (let from = 0; from < 10_000; from += 400) {
    const answers = await atOnce(8, (n) => ledger.post('/v1/batch', 'pennies', { commands: pairs(from + n * 50) }));
    for (const { body } of answers) {
      const results = body['results'] as readonly { readonly status: number }[];
      expect(results.filter(({ status }) => status >= 300)).toEqual([]);
    }
  }
  const spent = { available: '0', held: '0', used: '700000000', funded: '-700000000' };
  expect(await ledger.balance('pennies')).toEqual(spent);
  expect(await ledger.balanceInSql('pennies')).toEqual(spent);
  expect(await ledger.balanceInRedis('pennies')).toEqual(spent);
  expect((await ledger.reserve('pennies', { id: 'one-more', amount: '1' })).status).toBe(429);
}, 120_000);

test('20. a wallet in USD and a quota in TOK in one reserve, the quota short: refused, nothing taken from either, the quota named', async () => {
  await ledger.open('pair', '1000');
  await ledger.open('pair/tokens', '2000', { unit: 'TOK', scale: 0 });
  const accounts = ['pair', 'pair/tokens'];
  const short = await ledger.reserve('pair', { id: 'r1', accounts, amounts: { USD: '650', TOK: '2001' } });
  expect(short).toMatchObject({
    status: 429,
    body: { error: { holdfast: { account: 'pair/tokens', available: '2000', required: '2001' } } },
  });
  const untouched = { held: '0', used: '0' };
  expect(await ledger.balance('pair')).toMatchObject({ available: '1000', ...untouched });
  expect(await ledger.balance('pair/tokens')).toMatchObject({ available: '2000', ...untouched });
  expect(await ledger.balanceInRedis('pair')).toMatchObject({ available: '1000', ...untouched });
  const fits = await ledger.reserve('pair', { id: 'r1', accounts, amounts: { USD: '650', TOK: '2000' } });
  expect(fits).toMatchObject({ status: 201, body: { amounts: { USD: '650', TOK: '2000' } } });
  expect(await ledger.reserve('pair', { id: 'r2', accounts, amount: '1' })).toMatchObject({
    status: 422,
    body: { code: 'unit_mismatch' },
  });
});

test('and nothing differs anywhere', async () => {
  expect(await ledger.holdfast.verify(() => undefined)).toMatchObject(NO_DRIFT);
});
