import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LedgerUnderTest, NO_DRIFT, atOnce, statuses, until } from './harness.js';

/* What may follow what: expiry, closing twice, closing late, and the same id again. */

let ledger: LedgerUnderTest;
beforeAll(async () => {
  ledger = await LedgerUnderTest.start();
});
afterAll(() => ledger.stop());

const named = async (tenant: string): Promise<readonly string[]> =>
  (await ledger.events(tenant)).map(({ name }) => name);

/** Waits until the sweeper has given a reservation back. */
const expired = (tenant: string, id: string): Promise<void> =>
  until(`${id} of ${tenant} has expired`, async () => {
    const { body } = await ledger.get(`/v1/reservations/${id}`, tenant);
    return body['state'] === 'refunded' && body['reason'] === 'expired';
  });

test('3. 20 reserves, none finalized, past expiry: 20 Refunded(expired), given back once', async () => {
  await ledger.open('sleeper', '2000');
  const answers = await atOnce(20, (n) => ledger.reserve('sleeper', { id: `r${n}`, amount: '100', ttl_seconds: 1 }));
  expect(statuses(answers)).toEqual({ 201: 20 });
  await until('all have expired', async () => (await ledger.balance('sleeper')).held === '0');
  const refunds = (await ledger.events('sleeper')).filter((event) => event.name === 'Refunded');
  expect(new Set(refunds.map(({ data }) => data.reservation_id)).size).toBe(20);
  expect(refunds).toHaveLength(20);
  expect(refunds.every(({ data }) => data.reason === 'expired')).toBe(true);
  const back = { available: '2000', held: '0', used: '0', funded: '-2000' };
  expect(await ledger.balance('sleeper')).toEqual(back);
  expect(await ledger.balanceInRedis('sleeper')).toEqual(back);
});

test('5. reserve, finalize, refund: 409, and nothing changes', async () => {
  await ledger.open('closer', '100');
  await ledger.reserve('closer', { id: 'r1', amount: '60' });
  expect(await ledger.onReservation('finalize', 'closer', 'r1', { amount: '40' })).toMatchObject({
    status: 200,
    body: { state: 'finalized', amounts: { USD: '40' }, released: { USD: '20' }, late: false },
  });
  const before = await ledger.balance('closer');
  expect(await ledger.onReservation('refund', 'closer', 'r1', { reason: 'failed' })).toMatchObject({
    status: 409,
    body: { code: 'reservation_finalized', id: 'r1' },
  });
  expect(await ledger.balance('closer')).toEqual(before);
  expect(await named('closer')).toEqual(['AccountOpened', 'Recharged', 'Reserved', 'Finalized']);
});

test('7. a refused reserve, then its finalize without account: 404, no event', async () => {
  await ledger.open('refused', '10');
  expect((await ledger.reserve('refused', { id: 'r1', amount: '60' })).status).toBe(429);
  expect(await ledger.onReservation('finalize', 'refused', 'r1', { amount: '40' })).toMatchObject({
    status: 404,
    body: { code: 'reservation_not_found', id: 'r1' },
  });
  expect(await named('refused')).toEqual(['AccountOpened', 'Recharged']);
  expect(await ledger.balance('refused')).toMatchObject({ available: '10', held: '0', used: '0' });
});

test('8. a finalize after expiry is charged and marked late; again, the same answer', async () => {
  await ledger.open('late', '100');
  await ledger.reserve('late', { id: 'r1', amount: '60', ttl_seconds: 1 });
  await expired('late', 'r1');
  const finalize = () => ledger.onReservation('finalize', 'late', 'r1', { amount: '40' });
  const first = await finalize();
  expect(first).toMatchObject({ status: 200, body: { state: 'finalized', amounts: { USD: '40' }, late: true } });
  expect(first.headers.get('idempotency-hit')).toBeNull();
  const again = await finalize();
  expect(again.body).toEqual(first.body);
  expect(again.headers.get('idempotency-hit')).toBe('true');
  expect(await ledger.balance('late')).toEqual({ available: '60', held: '0', used: '40', funded: '-100' });
  expect(await named('late')).toEqual(['AccountOpened', 'Recharged', 'Reserved', 'Refunded', 'Finalized']);
});

describe('9. the same id twice', () => {
  beforeAll(async () => {
    await ledger.open('twice', '60');
    await ledger.open('twice/team', '60');
  });

  test('is one reservation, held once, also when the balance is now 0', async () => {
    const ask = { id: 'r1', amount: '60' };
    const first = await ledger.reserve('twice', ask);
    expect(first).toMatchObject({ status: 201, body: { state: 'open' } });
    expect(first.headers.get('idempotency-hit')).toBeNull();
    expect(await ledger.balance('twice')).toMatchObject({ available: '0', held: '60' });
    for (const again of await atOnce(5, () => ledger.reserve('twice', ask))) {
      expect(again.status).toBe(201);
      expect(again.body).toEqual(first.body);
      expect(again.headers.get('idempotency-hit')).toBe('true');
    }
    expect(await ledger.balance('twice')).toMatchObject({ available: '0', held: '60' });
    expect((await named('twice')).filter((name) => name === 'Reserved')).toHaveLength(1);
  });

  test('at once: one event, and every answer says the same', async () => {
    await ledger.open('racer', '100');
    const answers = await atOnce(20, () => ledger.reserve('racer', { id: 'r1', amount: '60' }));
    expect(statuses(answers)).toEqual({ 201: 20 });
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotency-hit') === null)).toHaveLength(1);
    expect(await ledger.balanceInRedis('racer')).toMatchObject({ available: '40', held: '60' });
  });

  test.each([
    ['amount', { amount: '59' }],
    ['amounts', { amounts: { USD: '61' } }],
    ['model', { amount: '60', model: 'gpt-x' }],
    ['accounts', { amount: '60', accounts: ['twice/team'] }],
    ['accounts', { amount: '60', accounts: ['twice', 'twice/team'] }],
    ['ttl_seconds', { amount: '60', ttl_seconds: 30 }],
  ])('with another %s is a 422 that names the field', async (field, body) => {
    expect(await ledger.reserve('twice', { id: 'r1', ...body })).toMatchObject({
      status: 422,
      body: { code: 'id_reused', id: 'r1', field },
    });
    expect(await ledger.balance('twice')).toMatchObject({ available: '0', held: '60' });
  });

  test('finalized with another amount is a 422 that names the first', async () => {
    expect((await ledger.onReservation('finalize', 'twice', 'r1', { amount: '10' })).status).toBe(200);
    expect(await ledger.onReservation('finalize', 'twice', 'r1', { amount: '11' })).toMatchObject({
      status: 422,
      body: { code: 'id_reused', field: 'amount', recorded: '10 USD' },
    });
    expect(await ledger.balance('twice')).toMatchObject({ available: '50', held: '0', used: '10' });
  });

  test('reserved again after it was closed shows the state as it is now, and grants nothing', async () => {
    expect(await ledger.reserve('twice', { id: 'r1', amount: '60' })).toMatchObject({
      status: 201,
      body: { id: 'r1', state: 'finalized', amounts: { USD: '60' } },
    });
    expect(await ledger.balance('twice')).toMatchObject({ held: '0' });
  });

  test('in another tenant is that tenant’s own', async () => {
    await ledger.open('other', '100');
    expect(await ledger.reserve('other', { id: 'r1', amount: '7' })).toMatchObject({
      status: 201,
      body: { id: 'r1', state: 'open', amounts: { USD: '7' } },
    });
    expect(await ledger.balance('other')).toMatchObject({ available: '93', held: '7' });
    expect((await ledger.onReservation('refund', 'other', 'r1', { reason: 'failed' })).status).toBe(200);
    expect(await ledger.balance('twice')).toMatchObject({ available: '50', used: '10' });
  });
});

test('and nothing differs anywhere', async () => {
  expect(await ledger.holdfast.verify(() => undefined)).toMatchObject(NO_DRIFT);
});
