import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HttpHarness } from '../stand-in/http-harness.js';

let http: HttpHarness;
beforeAll(async () => {
  http = await HttpHarness.start();
});
beforeEach(async () => {
  await http.reset();
});

describe('an account', () => {
  test('is opened with 201, again with 200, and with other contents refused', async () => {
    const account = { id: 'acme/team-a', unit: 'USD', scale: 6, overdraft_limit: '10', metadata: { plan: 'pro' } };
    const opened = await http.post('/v1/accounts', account);
    expect(opened).toMatchObject({ status: 201, body: { id: 'acme/team-a', available: '0', overdraft_limit: '10' } });
    const again = await http.post('/v1/accounts', account);
    expect(again).toMatchObject({ status: 200, headers: { 'idempotency-hit': 'true' } });
    expect(again.body).toEqual(opened.body);
    const other = await http.post('/v1/accounts', { ...account, overdraft_limit: 11 });
    expect(other).toMatchObject({ status: 422, body: { code: 'account_differs', field: 'overdraft_limit' } });
  });

  test('shows amounts past 2^53 to the unit', async () => {
    await http.fund('acme', '9007199254740993');
    await http.post('/v1/reservations', { amount: 1 });
    const { body } = await http.get('/v1/accounts/acme');
    expect(body).toMatchObject({ available: '9007199254740992', held: '1', funded: '-9007199254740993' });
  });

  test('shows its balance at a past position and at a past time', async () => {
    await http.fund('acme', '100');
    http.journal.nowMs += 60_000;
    await http.post('/v1/accounts/acme/recharges', { amount: '11' });
    const at = async (query: string) => (await http.get(`/v1/accounts/acme?${query}`)).body['available'];
    expect(await at('position=1')).toBe('0');
    expect(await at('position=2')).toBe('100');
    expect(await at('position=3')).toBe('111');
    expect(await at('at=2026-03-01T12:00:30Z')).toBe('100');
    expect(await at('at=2026-03-01T13:01:30%2B01:00')).toBe('111');
    const { body } = await http.get('/v1/accounts/acme?at=2026-03-01T12:00:30Z');
    expect(body).toMatchObject({ position: 2, as_of: '2026-03-01T12:00:00.000Z' });
    expect((await http.get('/v1/accounts/acme?at=2026-02-01T00:00:00Z')).status).toBe(404);
  });

  test.each([
    ['at', 'at=yesterday'],
    ['at', 'at=2026-02-30T00:00:00Z'],
    ['position', 'position=0'],
    ['position', 'position=1e3'],
    ['position', 'position=%201'],
    ['position', 'position=1&at=2026-03-01T12:00:00Z'],
    ['since', 'since=1'],
  ])('asked for with a wrong %s (%s) is a 400 that names it', async (field, query) => {
    await http.fund('acme', '1');
    expect(await http.get(`/v1/accounts/acme?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', field },
    });
  });
});

describe('a recharge', () => {
  beforeEach(() => http.fund('acme', '0'));
  const recharge = (body: object, headers: Record<string, string> = {}) =>
    http.post('/v1/accounts/acme/recharges', body, { headers });

  test('counts once for its id', async () => {
    const first = await recharge({ id: 'p1', amount: '500' });
    expect(first.body).toEqual({
      id: 'p1',
      account: 'acme',
      unit: 'USD',
      amount: '500',
      available: '500',
      held: '0',
      used: '0',
      funded: '-500',
      position: 2,
    });
    expect(await recharge({ id: 'p1', amount: '500' })).toMatchObject({
      status: 201,
      headers: { 'idempotency-hit': 'true' },
      body: { available: '500' },
    });
    expect(await recharge({ id: 'p1', amount: '501' })).toMatchObject({
      status: 422,
      body: { code: 'id_reused', field: 'amount', recorded: '500' },
    });
  });

  test('counts once for its payment reference, under whatever id', async () => {
    await recharge({ id: 'p1', amount: '500', reference: 'ch_1' });
    const again = await recharge({ id: 'p2', amount: '500', reference: 'ch_1' });
    expect(again).toMatchObject({
      status: 201,
      headers: { 'idempotency-hit': 'true' },
      body: { id: 'p1', available: '500' },
    });
  });

  test('takes its id from the Idempotency-Key: quoted, bare, or the same as the body’s', async () => {
    expect((await recharge({ amount: '1' }, { 'idempotency-key': '"k1"' })).body).toMatchObject({ id: 'k1' });
    const bare = await recharge({ amount: '1' }, { 'idempotency-key': 'k1' });
    expect(bare).toMatchObject({ headers: { 'idempotency-hit': 'true' }, body: { id: 'k1', available: '1' } });
    expect((await recharge({ id: 'k1', amount: '1' }, { 'idempotency-key': '"k1"' })).status).toBe(201);
    expect(await recharge({ id: 'k2', amount: '1' }, { 'idempotency-key': '"k1"' })).toMatchObject({
      status: 400,
      body: { code: 'idempotency_key_differs', field: 'id' },
    });
    for (const key of ['"k1', 'a b', '""', '"a"b"'])
      expect(await recharge({ amount: '1' }, { 'idempotency-key': key })).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', field: 'idempotency-key' },
      });
  });

  test('past 64 bits in sum is amount_overflow, and changes nothing', async () => {
    await recharge({ amount: '9223372036854775807' });
    expect(await recharge({ amount: 1 })).toMatchObject({
      status: 422,
      body: { code: 'amount_overflow', account: 'acme', bucket: 'available' },
    });
    expect((await http.get('/v1/accounts/acme')).body).toMatchObject({ available: '9223372036854775807' });
  });

  test('of an account that does not exist is 404', async () => {
    expect(await http.post('/v1/accounts/acme%2Fnobody/recharges', { amount: '1' })).toMatchObject({
      status: 404,
      body: { code: 'account_not_found', account: 'acme/nobody' },
    });
  });
});

describe('an adjustment', () => {
  test('moves a balance either way, and below zero', async () => {
    await http.fund('acme', '100');
    const down = await http.post('/v1/accounts/acme/adjustments', { id: 'a1', amount: '-150', reason: 'chargeback' });
    expect(down).toMatchObject({
      status: 201,
      body: { id: 'a1', amount: '-150', reason: 'chargeback', available: '-50' },
    });
    const up = await http.post('/v1/accounts/acme/adjustments', { amount: 60, reason: 'Goodwill, see ticket 7' });
    expect(up).toMatchObject({ status: 201, body: { available: '10' } });
  });

  test.each([
    ['amount', { amount: '0', reason: 'x' }],
    ['amount', { amount: 0, reason: 'x' }],
    ['reason', { amount: '1' }],
    ['reason', { amount: '1', reason: '  ' }],
  ])('with a wrong %s is refused', async (field, body) => {
    await http.fund('acme', '100');
    expect(await http.post('/v1/accounts/acme/adjustments', body)).toMatchObject({ status: 400, body: { field } });
  });
});

describe('a model', () => {
  test('has no max_cost until one is set; setting the same again is a replay', async () => {
    expect(await http.get('/v1/models/lab%2Fm')).toMatchObject({ status: 404, body: { code: 'model_not_found' } });
    const set = { body: { amounts: { USD: '65', TOK: 2000 } } };
    const first = await http.send('PUT', '/v1/models/lab%2Fm/max-cost', set);
    expect(first.body).toEqual({ id: 'lab/m', amounts: { USD: '65', TOK: '2000' }, revision: 2 });
    const again = await http.send('PUT', '/v1/models/lab%2Fm/max-cost', set);
    expect(again).toMatchObject({ status: 200, headers: { 'idempotency-hit': 'true' }, body: first.body });
    const raised = await http.send('PUT', '/v1/models/lab%2Fm/max-cost', { body: { amounts: { USD: '70' } } });
    expect(raised.body).toEqual({ id: 'lab/m', amounts: { USD: '70', TOK: '2000' }, revision: 3 });
  });
});
