import { afterAll, beforeAll, expect, test } from 'vitest';
import { LedgerUnderTest, NO_DRIFT, atOnce, statuses } from './harness.js';

/* Many at once for one balance, or for one id: who gets it, and what the others are told. */

let ledger: LedgerUnderTest;
beforeAll(async () => {
  ledger = await LedgerUnderTest.start();
});
afterAll(() => ledger.stop());

const QUOTA_MESSAGE = 'You exceeded your current quota, please check your plan and billing details.';

test('200 of balance, max_cost 65, 10 reserves at once: 3 granted, 7 told so as OpenAI’s clients know it, never below 5', async () => {
  await ledger.open('crowd', '200');
  await ledger.ask('PUT', '/v1/models/gpt-crowd/max-cost', 'crowd', { amounts: { USD: '65' } });
  const answers = await atOnce(10, (n) => ledger.reserve('crowd', { id: `r${n}`, model: 'gpt-crowd' }));
  expect(statuses(answers)).toEqual({ 201: 3, 429: 7 });
  for (const { status, headers, body } of answers) {
    if (status === 201) expect(body).toMatchObject({ state: 'open', amounts: { USD: '65' } });
    else {
      expect(headers.get('x-should-retry')).toBe('false');
      expect(body).toEqual({
        error: {
          message: QUOTA_MESSAGE,
          type: 'insufficient_quota',
          param: null,
          code: 'insufficient_quota',
          holdfast: { account: 'crowd', available: '5', required: '65' },
        },
      });
    }
  }
  const { body } = await ledger.get('/v1/accounts/crowd/events?limit=100', 'crowd');
  const trail = body['events'] as readonly {
    readonly type: string;
    readonly balance_after: { readonly available: string };
  }[];
  const spent = trail.filter(({ type }) => type.startsWith('com.holdfast.reserved'));
  expect(spent.map((entry) => entry.balance_after.available)).toEqual(['135', '70', '5']);

  const granted = answers.flatMap(({ status, body: b }) => (status === 201 ? [String(b['id'])] : []));
  const costs = ['65', '1', '40'];
  await Promise.all(granted.map((id, n) => ledger.onReservation('finalize', 'crowd', id, { amount: costs[n] })));
  const after = { available: '94', held: '0', used: '106', funded: '-200' };
  expect(await ledger.balance('crowd')).toEqual(after);
  expect(await ledger.balanceInSql('crowd')).toEqual(after);
  expect(await ledger.balanceInRedis('crowd')).toEqual(after);
});

test('1. 100 available, 50 parallel reserves of 60: one is granted, 49 are told 429, 60 is held', async () => {
  await ledger.open('single', '100');
  const answers = await atOnce(50, (n) => ledger.reserve('single', { id: `r${n}`, amount: '60' }));
  expect(statuses(answers)).toEqual({ 201: 1, 429: 49 });
  expect(await ledger.balance('single')).toMatchObject({ available: '40', held: '60' });
  expect(await ledger.balanceInRedis('single')).toMatchObject({ available: '40', held: '60' });
});

test('2. 8 parallel reserves for an account never opened: 404 account_not_found, never 429; no event, no key left', async () => {
  const answers = await atOnce(8, (n) => ledger.reserve('nobody', { id: `r${n}`, amount: '1' }));
  for (const answer of answers)
    expect(answer).toMatchObject({ status: 404, body: { code: 'account_not_found', account: 'nobody' } });
  expect(await ledger.events('nobody')).toEqual([]);
  const keys = await ledger.redis.keys(`{${ledger.keyPrefix}:*`);
  expect(keys.filter((key) => key.includes('nobody'))).toEqual([]);
  for (const key of keys)
    if ((await ledger.redis.type(key)) === 'hash')
      expect((await ledger.redis.hkeys(key)).filter((field) => field.includes('nobody'))).toEqual([]);
});

test('4. 50 parallel refunds of one id: one event, all answers the same', async () => {
  await ledger.open('refunder', '100');
  await ledger.reserve('refunder', { id: 'r1', amount: '60' });
  const answers = await atOnce(50, () => ledger.onReservation('refund', 'refunder', 'r1', { reason: 'failed' }));
  expect(statuses(answers)).toEqual({ 200: 50 });
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers.filter(({ headers }) => headers.get('idempotency-hit') !== 'true')).toHaveLength(1);
  const names = (await ledger.events('refunder')).map(({ name }) => name);
  expect(names).toEqual(['AccountOpened', 'Recharged', 'Reserved', 'Refunded']);
  expect(await ledger.balance('refunder')).toMatchObject({ available: '100', held: '0' });
});

test('6. 5,000 available, 5 × 1,000 held: the sixth is 429', async () => {
  await ledger.open('sixth', '5000');
  for (let n = 1; n <= 5; n += 1)
    expect((await ledger.reserve('sixth', { id: `r${n}`, amount: '1000' })).status).toBe(201);
  const sixth = await ledger.reserve('sixth', { id: 'r6', amount: '1000' });
  const holdfast = { account: 'sixth', available: '0', required: '1000' };
  expect(sixth).toMatchObject({ status: 429, body: { error: { code: 'insufficient_quota', holdfast } } });
  expect((await ledger.reserve('sixth', { id: 'r7', amount: '0' })).status).toBe(201);
});

test('and nothing differs anywhere', async () => {
  expect(await ledger.holdfast.verify(() => undefined)).toMatchObject(NO_DRIFT);
});
