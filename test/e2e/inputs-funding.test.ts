import { afterAll, beforeAll, expect, test } from 'vitest';
import { LedgerUnderTest, NO_DRIFT, atOnce, statuses } from './harness.js';
import type { Answer } from './harness.js';

/* Money that comes in once, and the most that a model can cost. */

let ledger: LedgerUnderTest;
beforeAll(async () => {
  ledger = await LedgerUnderTest.start();
});
afterAll(() => ledger.stop());

const recharge = (tenant: string, body: object): Promise<Answer> =>
  ledger.post(`/v1/accounts/${tenant}/recharges`, tenant, body);
const maxCost = (model: string, amount: string): Promise<Answer> =>
  ledger.ask('PUT', `/v1/models/${model}/max-cost`, 'any', { amounts: { USD: amount } });
const model = async (name: string): Promise<Answer['body']> => (await ledger.get(`/v1/models/${name}`, 'any')).body;

test('17. the same recharge id twice counts once; the same payment reference under two ids counts once', async () => {
  await ledger.open('payer');
  const paid = { id: 'p1', amount: '500', reference: 'ch_1' };
  const first = await recharge('payer', paid);
  expect(first).toMatchObject({ status: 201, body: { id: 'p1', available: '500' } });
  const again = await atOnce(10, () => recharge('payer', paid));
  expect(statuses(again)).toEqual({ 201: 10 });
  expect(again.every(({ headers }) => headers.get('idempotency-hit') === 'true')).toBe(true);
  const underAnother = await recharge('payer', { ...paid, id: 'p2' });
  expect(underAnother).toMatchObject({ status: 201, body: { id: 'p1', available: '500' } });
  expect(underAnother.headers.get('idempotency-hit')).toBe('true');
  expect(await recharge('payer', { id: 'p1', amount: '501', reference: 'ch_1' })).toMatchObject({
    status: 422,
    body: { code: 'id_reused', field: 'amount', recorded: '500' },
  });
  expect(await ledger.balance('payer')).toEqual({ available: '500', held: '0', used: '0', funded: '-500' });
  expect((await ledger.events('payer')).map(({ name }) => name)).toEqual(['AccountOpened', 'Recharged']);
});

test('17. at once, under ten ids with one reference: counts once', async () => {
  await ledger.open('hasty');
  const answers = await atOnce(10, (n) => recharge('hasty', { id: `p${n}`, amount: '500', reference: 'ch_2' }));
  expect(statuses(answers)).toEqual({ 201: 10 });
  expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1);
  expect(await ledger.balance('hasty')).toMatchObject({ available: '500', funded: '-500' });
  expect(await ledger.balanceInRedis('hasty')).toMatchObject({ available: '500' });
});

test('a recharge that was answered counts for the very next reserve', async () => {
  await ledger.open('next');
  for (let n = 0; n < 20; n += 1) {
    expect((await recharge('next', { id: `p${n}`, amount: '10' })).status).toBe(201);
    expect((await ledger.reserve('next', { id: `r${n}`, amount: '10' })).status).toBe(201);
  }
});

test('18. max_cost raised between a caller’s look and its hold: what comes back is what was taken', async () => {
  await ledger.open('looker', '1000');
  await maxCost('gpt-18', '65');
  expect(await model('gpt-18')).toMatchObject({ amounts: { USD: '65' }, revision: 1 });
  await maxCost('gpt-18', '100');
  const reserved = await ledger.reserve('looker', { id: 'r1', model: 'gpt-18', amount: '65' });
  expect(reserved).toMatchObject({ status: 201, body: { amounts: { USD: '100' } } });
  expect(await ledger.balance('looker')).toMatchObject({ available: '900', held: '100' });
  expect(await ledger.balanceInRedis('looker')).toMatchObject({ available: '900', held: '100' });
});

test('18. raised again and again while holds come in: each answer is what its event took', async () => {
  await ledger.open('crowd', '1000000');
  await maxCost('gpt-19', '1');
  const raising = (async () => {
    for (let amount = 2; amount <= 30; amount += 1) await maxCost('gpt-19', amount.toString());
  })();
  const answers = await atOnce(60, (n) => ledger.reserve('crowd', { id: `r${n}`, model: 'gpt-19' }));
  await raising;
  expect(statuses(answers)).toEqual({ 201: 60 });
  const taken = new Map(
    (await ledger.events('crowd')).flatMap(({ name, data }) =>
      name === 'Reserved' ? [[data.reservation_id, data.postings[0]?.held.toString()]] : [],
    ),
  );
  for (const { body } of answers) expect(body['amounts']).toEqual({ USD: taken.get(String(body['id'])) });
  const held = [...taken.values()].reduce((sum, amount) => sum + BigInt(amount ?? 0), 0n).toString();
  expect(await ledger.balance('crowd')).toMatchObject({ held });
  expect(await ledger.balanceInRedis('crowd')).toMatchObject({ held });
});

test('19. a finalize of 1,000 × the known max_cost is charged, and not raised without an operator', async () => {
  await ledger.open('absurd', '1000');
  await maxCost('gpt-20', '65');
  await ledger.reserve('absurd', { id: 'r1', model: 'gpt-20' });
  const finalized = await ledger.onReservation('finalize', 'absurd', 'r1', { amount: '65000' });
  expect(finalized).toMatchObject({ status: 200, body: { state: 'finalized', amounts: { USD: '65000' } } });
  expect(finalized.body).not.toHaveProperty('max_cost_raised');
  expect(await ledger.balance('absurd')).toMatchObject({ available: '-64000', held: '0', used: '65000' });
  expect(await model('gpt-20')).toMatchObject({ amounts: { USD: '65' }, revision: 1, pending: { USD: '65000' } });
  await ledger.open('bystander', '100');
  const next = await ledger.reserve('bystander', { id: 'r1', model: 'gpt-20' });
  expect(next).toMatchObject({ status: 201, body: { amounts: { USD: '65' } } });

  await maxCost('gpt-20', '650');
  expect(await model('gpt-20')).toMatchObject({ amounts: { USD: '650' }, revision: 2 });
  expect(await model('gpt-20')).not.toHaveProperty('pending');
});

test('19. up to 10 × it is raised at once, for everybody', async () => {
  await ledger.open('first', '10000');
  await ledger.open('second', '10000');
  await maxCost('gpt-21', '65');
  await ledger.reserve('first', { id: 'r1', model: 'gpt-21' });
  const finalized = await ledger.onReservation('finalize', 'first', 'r1', { amount: '650' });
  expect(finalized).toMatchObject({ status: 200, body: { max_cost_raised: { USD: '650' } } });
  expect(await model('gpt-21')).toMatchObject({ amounts: { USD: '650' }, revision: 2 });
  const raised = (await ledger.events('first')).find(({ name }) => name === 'MaxCostRaised');
  expect(raised?.data).toMatchObject({ model: 'gpt-21', amount: 650n, previous: 65n, reservation_id: 'r1' });
});

test('and nothing differs anywhere', async () => {
  expect(await ledger.holdfast.verify(() => undefined)).toMatchObject(NO_DRIFT);
});
