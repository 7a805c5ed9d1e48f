import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HttpHarness } from '../stand-in/http-harness.js';

let http: HttpHarness;
beforeAll(async () => {
  http = await HttpHarness.start();
});
beforeEach(async () => {
  await http.reset();
});

const balance = async (account: string): Promise<Record<string, unknown>> =>
  (await http.get(`/v1/accounts/${encodeURIComponent(account)}`)).body;
const setMaxCost = (model: string, amounts: object) =>
  http.send('PUT', `/v1/models/${encodeURIComponent(model)}/max-cost`, { body: { amounts } });

describe('a reservation', () => {
  test('is made, read, finalized, and read again', async () => {
    await http.fund('acme', '1000');
    const made = await http.post('/v1/reservations', { id: 'r1', model: 'gpt', amount: '650', metadata: { run: 7 } });
    expect(made).toMatchObject({
      status: 201,
      body: {
        id: 'r1',
        state: 'open',
        accounts: ['acme'],
        model: 'gpt',
        amounts: { USD: '650' },
        expires_at: '2026-03-01T12:10:00.000Z',
        position: 3,
        metadata: { run: 7 },
      },
    });
    expect(await balance('acme')).toMatchObject({ available: '350', held: '650', used: '0', funded: '-1000' });

    const finalized = await http.post('/v1/reservations/r1/finalize', { amount: '200', usage: { prompt: 12 } });
    expect(finalized.status).toBe(200);
    expect(finalized.body).toEqual({
      id: 'r1',
      state: 'finalized',
      accounts: ['acme'],
      model: 'gpt',
      amounts: { USD: '200' },
      released: { USD: '450' },
      late: false,
      max_cost_raised: { USD: '200' },
      position: 4,
    });

    const read = await http.get('/v1/reservations/r1');
    expect(read.body).toMatchObject({ state: 'finalized', amounts: { USD: '650' }, cost: { USD: '200' } });
    const events = read.body['events'] as { type: string; position: number }[];
    expect(events.map((e) => [e.type, e.position])).toEqual([
      ['com.holdfast.reserved.v1', 3],
      ['com.holdfast.finalized.v1', 4],
      ['com.holdfast.maxcostraised.v1', 5],
    ]);
  });

  test('is refunded once, however often it is asked', async () => {
    await http.fund('acme', '100');
    await http.post('/v1/reservations', { id: 'r1', amount: '60' });
    const first = await http.post('/v1/reservations/r1/refund', { reason: 'upstream_failed' });
    expect(first).toMatchObject({ status: 200, body: { state: 'refunded', reason: 'upstream_failed' } });
    const again = await http.post('/v1/reservations/r1/refund', { reason: 'upstream_failed' });
    expect(again.headers['idempotency-hit']).toBe('true');
    expect(again.body).toEqual(first.body);
    expect(await balance('acme')).toMatchObject({ available: '100', held: '0' });
  });

  test('expires later once extended, never earlier', async () => {
    await http.fund('acme', '100');
    await http.post('/v1/reservations', { id: 'r1', amount: '60' });
    const extended = await http.post('/v1/reservations/r1/extend', { ttl_seconds: 3600 });
    expect(extended).toMatchObject({ status: 200, body: { expires_at: '2026-03-01T13:00:00.000Z' } });
    const back = await http.post('/v1/reservations/r1/extend', { ttl_seconds: 1 });
    expect(back).toMatchObject({ status: 200, body: { expires_at: '2026-03-01T13:00:00.000Z' } });
  });

  test('gets an id from the server when it brings none', async () => {
    await http.fund('acme', '100');
    const made = await http.post('/v1/reservations', { amount: 1 });
    expect(made.body['id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  test('of an id with slashes and a colon is found by its encoded path', async () => {
    await http.fund('acme', '100');
    await http.post('/v1/reservations', { id: 'a/b:c@d', amount: 1 });
    expect(await http.get('/v1/reservations/a%2Fb%3Ac%40d')).toMatchObject({ status: 200, body: { id: 'a/b:c@d' } });
  });

  test('finalized after its expiry is charged and marked late, with nothing left to release', async () => {
    await http.fund('acme', '100');
    await http.post('/v1/reservations', { id: 'r1', amount: '60' });
    http.journal.nowMs += 601_000;
    await http.journal.append({ kind: 'expire', tenant: 'acme', id: 'r1' });
    const late = await http.post('/v1/reservations/r1/finalize', { amount: '30' });
    expect(late).toMatchObject({ status: 200, body: { late: true, amounts: { USD: '30' }, released: { USD: '-30' } } });
    expect((await http.post('/v1/reservations/r1/finalize', { amount: '30' })).body).toEqual(late.body);
    expect(await balance('acme')).toMatchObject({ available: '70', held: '0', used: '30' });
  });

  test('that was never made can be finalized when the accounts are named, and then no more reserved', async () => {
    await http.fund('acme', '100');
    const missing = await http.post('/v1/reservations/cold/finalize', { amount: '7' });
    expect(missing).toMatchObject({ status: 404, body: { code: 'reservation_not_found' } });
    const cold = await http.post('/v1/reservations/cold/finalize', { amount: '7', accounts: ['acme'] });
    expect(cold).toMatchObject({ status: 200, body: { state: 'finalized', amounts: { USD: '7' } } });
    const reserve = await http.post('/v1/reservations', { id: 'cold', amount: '7' });
    expect(reserve).toMatchObject({ status: 409, body: { code: 'reservation_closed' } });
  });
});

describe('the same id again', () => {
  test('is one reservation, held once, also when the balance is now 0, and says that it is a replay', async () => {
    await http.fund('acme', '100');
    const first = await http.post('/v1/reservations', { id: 'r1', amount: '100' });
    expect(first.headers).not.toHaveProperty('idempotency-hit');
    const again = await http.post('/v1/reservations', { id: 'r1', amount: '100' });
    expect(again).toMatchObject({ status: 201, headers: { 'idempotency-hit': 'true' } });
    expect(again.body).toEqual(first.body);
    expect(await balance('acme')).toMatchObject({ available: '0', held: '100' });
  });

  test('after the finalize shows the present state', async () => {
    await http.fund('acme', '100');
    await http.post('/v1/reservations', { id: 'r1', amount: '100' });
    await http.post('/v1/reservations/r1/finalize', { amount: '40' });
    const again = await http.post('/v1/reservations', { id: 'r1', amount: '100' });
    expect(again).toMatchObject({ status: 201, headers: { 'idempotency-hit': 'true' }, body: { state: 'finalized' } });
  });

  test.each([
    ['amount', { amount: '61' }],
    ['model', { amount: '60', model: 'other' }],
    ['accounts', { amount: '60', accounts: ['acme/team'] }],
    ['ttl_seconds', { amount: '60', ttl_seconds: 5 }],
  ])('with another %s is refused, naming it', async (field, other) => {
    await http.fund('acme', '100');
    await http.fund('acme/team', '100');
    await http.post('/v1/reservations', { id: 'r1', amount: '60', model: undefined });
    const refused = await http.post('/v1/reservations', { id: 'r1', ...other });
    expect(refused).toMatchObject({ status: 422, body: { code: 'id_reused', id: 'r1', field } });
    expect(refused.body['detail']).toContain(field);
  });

  test('in another tenant is that tenant’s own', async () => {
    const all = await http.mint(['admin']);
    await http.fund('acme', '100', {}, all);
    await http.fund('bolt', '100', {}, all);
    for (const tenant of ['acme', 'bolt']) {
      const sent = { key: all, headers: { 'holdfast-tenant': tenant } };
      expect(await http.post('/v1/reservations', { id: 'r1', amount: '60' }, sent)).toMatchObject({
        status: 201,
        body: { accounts: [tenant] },
      });
    }
  });

  test('finalized with another amount is refused, naming the amount', async () => {
    await http.fund('acme', '100');
    await http.post('/v1/reservations', { id: 'r1', amount: '60' });
    await http.post('/v1/reservations/r1/finalize', { amount: '50' });
    expect(await http.post('/v1/reservations/r1/finalize', { amount: '51' })).toMatchObject({
      status: 422,
      body: { code: 'id_reused', field: 'amount', recorded: '50 USD' },
    });
  });

  test('refunded after its finalize, or finalized after its refund, is a conflict that their SDKs do not retry', async () => {
    await http.fund('acme', '100');
    await http.post('/v1/reservations', { id: 'r1', amount: '10' });
    await http.post('/v1/reservations', { id: 'r2', amount: '10' });
    await http.post('/v1/reservations/r1/finalize', { amount: '10' });
    await http.post('/v1/reservations/r2/refund', { reason: 'cancelled' });
    const conflicts = [
      await http.post('/v1/reservations/r1/refund', { reason: 'cancelled' }),
      await http.post('/v1/reservations/r2/finalize', { amount: '10' }),
      await http.post('/v1/reservations/r1/extend', { ttl_seconds: 10 }),
    ];
    expect(conflicts.map((c) => [c.status, c.body['code'], c.headers['x-should-retry']])).toEqual([
      [409, 'reservation_finalized', 'false'],
      [409, 'reservation_refunded', 'false'],
      [409, 'reservation_finalized', 'false'],
    ]);
  });
});

describe('out of quota', () => {
  test('answers the body that OpenAI’s clients know, and tells them not to retry', async () => {
    await http.fund('acme', '5', { overdraft_limit: '10' });
    const refused = await http.post('/v1/reservations', { amount: '65' });
    expect(refused.status).toBe(429);
    expect(refused.headers['x-should-retry']).toBe('false');
    expect(refused.headers['content-type']).toMatch(/^application\/json/);
    expect(refused.text).toBe(
      '{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota",' +
        '"param":null,"code":"insufficient_quota","holdfast":{"account":"acme","available":"15","required":"65"}}}',
    );
  });

  test('in one of two units takes nothing from either, and names the account that is short', async () => {
    await http.fund('acme', '1000');
    await http.fund('acme/quota', '10', { unit: 'TOK', scale: 0 });
    const accounts = ['acme', 'acme/quota'];
    const refused = await http.post('/v1/reservations', { id: 'r1', accounts, amounts: { USD: '650', TOK: '2000' } });
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { holdfast: { account: 'acme/quota', available: '10', required: '2000' } } },
    });
    expect(await balance('acme')).toMatchObject({ available: '1000', held: '0' });
    expect(await balance('acme/quota')).toMatchObject({ available: '10', held: '0' });
    const granted = await http.post('/v1/reservations', { id: 'r1', accounts, amounts: { USD: '650', TOK: '10' } });
    expect(granted).toMatchObject({ status: 201, body: { amounts: { USD: '650', TOK: '10' } } });
  });

  test('is not remembered: the same id tries again', async () => {
    await http.fund('acme', '5');
    expect((await http.post('/v1/reservations', { id: 'r1', amount: '65' })).status).toBe(429);
    await http.post('/v1/accounts/acme/recharges', { amount: '60' });
    const granted = await http.post('/v1/reservations', { id: 'r1', amount: '65' });
    expect(granted.status).toBe(201);
    expect(granted.headers).not.toHaveProperty('idempotency-hit');
  });
});

describe('the amount of a hold', () => {
  test('is the model’s max_cost where none is given, and the larger where one is', async () => {
    await http.fund('acme', '1000');
    expect(await setMaxCost('lab/gpt', { USD: '65' })).toMatchObject({
      status: 200,
      body: { amounts: { USD: '65' }, revision: 1 },
    });
    const none = await http.post('/v1/reservations', { model: 'lab/gpt' });
    expect(none.body).toMatchObject({ amounts: { USD: '65' } });
    // What was taken comes back, not what was asked for: max_cost may have been raised since the caller looked.
    const less = await http.post('/v1/reservations', { model: 'lab/gpt', amount: '40' });
    expect(less.body).toMatchObject({ amounts: { USD: '65' } });
    const more = await http.post('/v1/reservations', { model: 'lab/gpt', amount: '70' });
    expect(more.body).toMatchObject({ amounts: { USD: '70' } });
  });

  test.each([
    ['max_cost_unknown', { model: 'unheard-of' }],
    ['amount_missing', { accounts: ['acme', 'acme/quota'], amounts: { USD: '1' } }],
    ['unit_mismatch', { accounts: ['acme', 'acme/quota'], amount: '1' }],
    ['unit_unknown', { amounts: { USD: '1', TOK: '1' } }],
  ])('that can not be settled is %s', async (code, body) => {
    await http.fund('acme', '1000');
    await http.fund('acme/quota', '10', { unit: 'TOK', scale: 0 });
    expect(await http.post('/v1/reservations', body)).toMatchObject({ status: 422, body: { code } });
  });

  test('a cost of 1,000 times max_cost is charged and waits for an operator', async () => {
    await http.fund('acme', '1000000');
    await setMaxCost('gpt', { USD: '65' });
    await http.post('/v1/reservations', { id: 'r1', model: 'gpt' });
    const absurd = await http.post('/v1/reservations/r1/finalize', { amount: '65000' });
    expect(absurd).toMatchObject({ status: 200, body: { amounts: { USD: '65000' }, released: { USD: '-64935' } } });
    expect(absurd.body).not.toHaveProperty('max_cost_raised');
    expect((await http.get('/v1/models/gpt')).body).toEqual({
      id: 'gpt',
      amounts: { USD: '65' },
      revision: 1,
      pending: { USD: '65000' },
    });
  });
});
