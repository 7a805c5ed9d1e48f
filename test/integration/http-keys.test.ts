import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { UnavailableError } from '../../src/core/ports.js';
import { HttpHarness } from '../stand-in/http-harness.js';

let http: HttpHarness;
beforeAll(async () => {
  http = await HttpHarness.start();
});
beforeEach(async () => {
  await http.reset();
  await http.fund('acme', '1000');
});

describe('a key', () => {
  test.each([
    ['no key', ''],
    ['no key of ours', 'sk-123'],
    ['an unknown one', `hf_0123456789abcdef_${'A'.repeat(43)}`],
  ])('%s is 401', async (_what, key) => {
    const answer = await http.get('/v1/accounts/acme', { key });
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  test('with the right id and another secret is 401', async () => {
    const last = http.key.endsWith('A') ? 'B' : 'A';
    expect((await http.get('/v1/accounts/acme', { key: `${http.key.slice(0, -1)}${last}` })).status).toBe(401);
  });

  test('is wanted before a body is looked at', async () => {
    expect((await http.post('/v1/reservations', 'no JSON', { key: '' })).status).toBe(401);
  });

  test('is not wanted for health, readiness, metrics, the document and its page', async () => {
    for (const url of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs'])
      expect((await http.get(url, { key: '' })).status).toBeLessThan(400);
  });

  test('that can not be looked up is 503, not 401', async () => {
    http.keys.failure = new UnavailableError('journal_unavailable', 'connect ECONNREFUSED 10.0.0.7:5432');
    const answer = await http.get('/v1/accounts/acme', { key: `hf_fedcba9876543210_${'A'.repeat(43)}` });
    expect(answer).toMatchObject({ status: 503, body: { code: 'journal_unavailable' } });
    expect(answer.text).not.toContain('10.0.0.7');
  });
});

const DOING = [
  ['reserve', 'POST', '/v1/reservations', { amount: '1' }, 201],
  ['reserve', 'POST', '/v1/reservations/none/finalize', { amount: '1' }, 404],
  ['reserve', 'POST', '/v1/reservations/none/refund', { reason: 'x' }, 404],
  ['reserve', 'POST', '/v1/reservations/none/extend', { ttl_seconds: 5 }, 404],
  ['fund', 'POST', '/v1/accounts', { id: 'acme/x', unit: 'USD' }, 201],
  ['fund', 'POST', '/v1/accounts/acme/recharges', { amount: '1' }, 201],
  ['fund', 'POST', '/v1/accounts/acme/adjustments', { amount: '1', reason: 'x' }, 201],
  ['read', 'GET', '/v1/accounts/acme', undefined, 200],
  ['read', 'GET', '/v1/accounts/acme/events', undefined, 200],
  ['read', 'GET', '/v1/reservations/none', undefined, 404],
  ['read', 'GET', '/v1/models/none', undefined, 404],
  ['admin', 'PUT', '/v1/models/m/max-cost', { amounts: { USD: '1' } }, 200],
] as const;

describe('a scope', () => {
  test.each(DOING)('%s is needed for %s %s, and admin will do', async (scope, method, url, body, status) => {
    const others = (['reserve', 'fund', 'read'] as const).filter((other) => other !== scope);
    const sent = body === undefined ? {} : { body };
    expect(await http.send(method, url, { ...sent, key: await http.mint(others, 'acme') })).toMatchObject({
      status: 403,
      body: { code: 'scope_missing', scope },
    });
    expect((await http.send(method, url, { ...sent, key: await http.mint([scope], 'acme') })).status).toBe(status);
  });

  test('is asked for each command of a batch', async () => {
    const commands = [
      { op: 'reserve', id: 'r1', amount: '1' },
      { op: 'get', id: 'r1' },
      { op: 'recharge', account: 'acme', amount: '1' },
    ];
    const answer = await http.post('/v1/batch', { commands }, { key: await http.mint(['reserve'], 'acme') });
    const results = answer.body['results'] as { status: number; body: { scope?: string } }[];
    expect(results.map((r) => [r.status, r.body.scope])).toEqual([
      [201, undefined],
      [403, 'read'],
      [403, 'fund'],
    ]);
  });
});

describe('another tenant’s', () => {
  let bolt: string;
  beforeEach(async () => {
    bolt = await http.mint(['admin'], 'bolt');
    await http.fund('bolt', '500', {}, bolt);
    await http.post('/v1/reservations', { id: 'theirs', amount: '5' }, { key: bolt });
  });

  test.each([
    ['GET', '/v1/accounts/bolt', '/v1/accounts/acme%2Fnone', undefined],
    ['GET', '/v1/accounts/bolt/events', '/v1/accounts/acme%2Fnone/events', undefined],
    ['POST', '/v1/accounts/bolt/recharges', '/v1/accounts/acme%2Fnone/recharges', { amount: '1' }],
    ['POST', '/v1/accounts/bolt/adjustments', '/v1/accounts/acme%2Fnone/adjustments', { amount: '1', reason: 'x' }],
    ['GET', '/v1/reservations/theirs', '/v1/reservations/none', undefined],
    ['POST', '/v1/reservations/theirs/finalize', '/v1/reservations/none/finalize', { amount: '1' }],
    ['POST', '/v1/reservations/theirs/refund', '/v1/reservations/none/refund', { reason: 'x' }],
    ['POST', '/v1/reservations/theirs/extend', '/v1/reservations/none/extend', { ttl_seconds: 5 }],
  ] as const)('is answered like what does not exist: %s %s', async (method, theirs, none, body) => {
    const sent = body === undefined ? {} : { body };
    const one = await http.send(method, theirs, sent);
    const other = await http.send(method, none, sent);
    const nameless = (text: string): string => text.replaceAll(/bolt|acme\/none|theirs|none/g, '*');
    expect(one.status).toBe(404);
    expect([one.status, nameless(one.text)]).toEqual([other.status, nameless(other.text)]);
    expect(Object.keys(one.headers).sort()).toEqual(Object.keys(other.headers).sort());
  });

  test('account can not be held from, nor opened', async () => {
    const hold = await http.post('/v1/reservations', { amount: '1', accounts: ['bolt'] });
    expect(hold).toMatchObject({ status: 404, body: { code: 'account_not_found', account: 'bolt' } });
    for (const id of ['bolt', 'bolt/new'])
      expect(await http.post('/v1/accounts', { id, unit: 'USD' })).toMatchObject({
        status: 403,
        body: { code: 'wrong_tenant', field: 'id' },
      });
  });

  test('name in the header or in a command is refused', async () => {
    const header = await http.get('/v1/accounts/acme', { headers: { 'holdfast-tenant': 'bolt' } });
    expect(header).toMatchObject({ status: 403, body: { code: 'wrong_tenant', field: 'holdfast-tenant' } });
    const commands = [{ op: 'refund', tenant: 'bolt', id: 'theirs', reason: 'x' }];
    const batch = await http.post('/v1/batch', { commands });
    expect(batch.body['results']).toMatchObject([{ status: 403, body: { code: 'wrong_tenant' } }]);
  });
});

describe('a key for all tenants', () => {
  let all: string;
  beforeEach(async () => {
    all = await http.mint(['admin']);
    await http.fund('bolt', '500', {}, all);
  });

  test('takes the tenant from the account where the path or the body has one', async () => {
    expect((await http.get('/v1/accounts/bolt', { key: all })).status).toBe(200);
    const hold = await http.post('/v1/reservations', { id: 'r1', amount: '5', accounts: ['bolt'] }, { key: all });
    expect(hold.status).toBe(201);
  });

  test('must name it by the header where nothing else does', async () => {
    const body = { id: 'r1', amount: '5' };
    expect(await http.post('/v1/reservations', body, { key: all })).toMatchObject({
      status: 400,
      body: { code: 'tenant_required', field: 'holdfast-tenant' },
    });
    const headers = { 'holdfast-tenant': 'bolt' };
    expect(await http.post('/v1/reservations', body, { key: all, headers })).toMatchObject({
      status: 201,
      body: { accounts: ['bolt'] },
    });
    expect((await http.get('/v1/reservations/r1', { key: all })).status).toBe(400);
    expect((await http.get('/v1/reservations/r1', { key: all, headers })).status).toBe(200);
    expect((await http.get('/v1/accounts/acme', { key: all, headers })).status).toBe(404);
  });

  test('may serve several tenants in one batch', async () => {
    const commands = ['acme', 'bolt'].map((tenant) => ({ op: 'reserve', tenant, id: 'same', amount: '5' }));
    const answer = await http.post('/v1/batch', { commands }, { key: all });
    expect(answer.body['results']).toMatchObject([
      { status: 201, body: { accounts: ['acme'] } },
      { status: 201, body: { accounts: ['bolt'] } },
    ]);
  });

  test('with a header that can be no tenant is a 400', async () => {
    for (const tenant of ['@holdfast', 'a/b', 'a b', 'x'.repeat(129)])
      expect(await http.get('/v1/accounts/acme', { key: all, headers: { 'holdfast-tenant': tenant } })).toMatchObject({
        status: 400,
        body: { field: 'holdfast-tenant' },
      });
  });
});
