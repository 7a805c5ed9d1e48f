import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HttpHarness } from '../stand-in/http-harness.js';

let http: HttpHarness;
beforeAll(async () => {
  http = await HttpHarness.start();
});
beforeEach(async () => {
  await http.reset();
  await http.fund('acme', '1000');
  http.lines.length = 0;
});

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** Answers are written to the log once they are gone, which may be a moment after the answer was seen. */
const lines = async (count: number): Promise<Record<string, unknown>[]> => {
  while (http.lines.length < count) await new Promise((resolve) => setImmediate(resolve));
  return http.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
};

describe('the log', () => {
  test('has one line a request: method, route, status, time, tenant, request id, trace, code; no ids', async () => {
    const answer = await http.post(
      '/v1/reservations/no-such-id/refund',
      { reason: 'x' },
      { headers: { traceparent: TRACE } },
    );
    const [line, ...more] = await lines(1);
    expect(more).toEqual([]);
    expect(line).toMatchObject({
      level: 'info',
      msg: 'request',
      method: 'POST',
      route: '/v1/reservations/:id/refund',
      status: 404,
      tenant: 'acme',
      request_id: answer.headers['x-request-id'],
      traceparent: TRACE,
      code: 'reservation_not_found',
    });
    expect(line?.['ms']).toEqual(expect.any(Number));
    expect(JSON.stringify(line)).not.toContain('no-such-id');
  });

  test('has what nobody foresaw with its cause; the caller gets only the name of the request', async () => {
    http.journal.failure = new Error(
      'relation "events" does not exist at postgres://app:hunter2@db.internal:5432/ledger',
    );
    const answer = await http.post('/v1/reservations', { amount: '1' });
    expect(answer).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    expect(answer.body['request_id']).toBe(answer.headers['x-request-id']);
    expect(answer.text).not.toMatch(/relation|db\.internal|hunter2/);
    const [error] = await lines(2);
    expect(error).toMatchObject({ level: 'error', request_id: answer.headers['x-request-id'] });
    expect(JSON.stringify(error)).toContain('relation');
  });

  test('holds no secret, whatever it is that is logged', async () => {
    const { key } = http;
    http.journal.failure = new Error(`Authorization: Bearer ${key}; redis://:hunter2@cache:6379`);
    await http.post('/v1/reservations', { amount: '1' });
    await http.get(`/v1/accounts/acme?at=${key}`);
    await http.get(`/${key}`, { key: 'wrong' });
    await lines(4);
    const log = http.lines.join('');
    expect(log).not.toContain(key);
    expect(log).not.toContain(key.slice(-20));
    expect(log).not.toContain('hunter2');
    expect(log).toContain('[secret]');
  });
});

describe('a trace context', () => {
  test('is kept in the event; a malformed one is ignored', async () => {
    await http.post('/v1/reservations', { id: 'r1', amount: '1' }, { headers: { traceparent: TRACE } });
    const bad = await http.post(
      '/v1/reservations',
      { id: 'r2', amount: '1' },
      { headers: { traceparent: 'nonsense' } },
    );
    expect(bad.status).toBe(201);
    const { body } = await http.get('/v1/reservations/r1');
    expect(body['events']).toMatchObject([{ traceparent: TRACE }]);
    expect((await http.get('/v1/reservations/r2')).text).not.toContain('traceparent');
  });
});

describe('metrics', () => {
  const metrics = async (): Promise<string> => (await http.get('/metrics', { key: '' })).text;

  test('count requests by route and refusals and refunds by reason; no id is a label', async () => {
    await http.post('/v1/reservations', { id: 'some-id', amount: '1' });
    await http.post('/v1/reservations', { id: 'other-id', amount: '99999' });
    await http.post('/v1/reservations/some-id/refund', { reason: 'upstream_failed' });
    await http.get('/v1/nothing-here');
    const text = await metrics();
    expect(text).toContain('holdfast_http_requests_total{method="POST",route="/v1/reservations",status="429"} 1');
    expect(text).toContain('holdfast_http_requests_total{method="GET",route="none",status="404"}');
    expect(text).toContain('holdfast_reserve_refusals_total{reason="insufficient_quota"} 1');
    expect(text).toContain('holdfast_refunds_total{reason="upstream_failed"} 1');
    expect(text).toMatch(/holdfast_tenant_commands\{tenant="acme"\} \d+/);
    expect(text).not.toMatch(/some-id|other-id|nothing-here/);
  });

  test('time reserve to finalize', async () => {
    http.journal.nowMs = Date.now() - 42_000;
    await http.post('/v1/reservations', { id: 'r1', amount: '1' });
    await http.post('/v1/reservations/r1/finalize', { amount: '1' });
    const text = await metrics();
    expect(text).toContain('holdfast_reserve_to_finalize_seconds_bucket{le="30"} 0');
    expect(text).toContain('holdfast_reserve_to_finalize_seconds_bucket{le="60"} 1');
    http.journal.reset();
  });

  test('are named as Prometheus asks: prefix, base units, _total for what only grows', async () => {
    const { ledger } = http.metrics;
    ledger.appended(7, 0.004);
    ledger.heldRatio('USD', 0.25);
    ledger.projectionLag('balances', 3, 12, 0.5);
    ledger.relayLag(3, 4, 0.1);
    ledger.driftFound(0);
    ledger.orphanedHolds(2);
    ledger.orphansGivenBack(2);
    ledger.held('ask_journal');
    const text = await metrics();
    for (const line of [
      'holdfast_append_group_events_sum 7',
      'holdfast_append_group_seconds_sum 0.004',
      'holdfast_held_available_ratio{unit="USD"} 0.25',
      'holdfast_projection_lag_positions{projection="balances",partition="3"} 12',
      'holdfast_projection_lag_seconds{projection="balances",partition="3"} 0.5',
      'holdfast_relay_lag_positions{partition="3"} 4',
      'holdfast_relay_lag_seconds{partition="3"} 0.1',
      'holdfast_drift 0',
      'holdfast_drift_total 0',
      'holdfast_orphaned_holds 2',
      'holdfast_orphaned_holds_given_back_total 2',
      'holdfast_holds_total{outcome="ask_journal"} 1',
    ])
      expect(text).toContain(line);
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => ({ name, type }));
    expect(types.filter(({ name }) => !name.startsWith('holdfast_'))).toEqual([]);
    expect(types.filter(({ name, type }) => (type === 'counter') !== name.endsWith('_total'))).toEqual([]);
  });
});

describe('health and readiness', () => {
  test('alive is alive; ready names build, schema, scripts and each part in words', async () => {
    expect(await http.get('/healthz', { key: '' })).toMatchObject({ status: 200, body: { status: 'alive' } });
    const ready = await http.get('/readyz', { key: '' });
    expect(ready.status).toBe(200);
    expect(ready.body).toEqual({
      ready: true,
      build: { version: '0.1.0-test' },
      schema_version: 3,
      scripts: { hold: 'da39a3ee5e6b4b0d3255bfef95601890afd80709' },
      parts: [{ name: 'journal', ok: true, state: 'reached, heads read 20 ms ago' }],
    });
  });

  test('not able to serve is 503, with the same words', async () => {
    const before = http.report;
    http.report = { ...before, ready: false, parts: [{ name: 'journal', ok: false, state: 'refuses connections' }] };
    expect(await http.get('/readyz', { key: '' })).toMatchObject({
      status: 503,
      body: { ready: false, parts: [{ name: 'journal', ok: false, state: 'refuses connections' }] },
    });
    http.report = before;
  });
});

test('a process that does not serve the ledger answers for itself only', async () => {
  const { app, key } = await HttpHarness.start({}, { operationsOnly: true });
  const get = async (url: string): Promise<number> =>
    (await app.inject({ url, headers: { authorization: `Bearer ${key}` } })).statusCode;
  expect([await get('/healthz'), await get('/readyz'), await get('/metrics')]).toEqual([200, 200, 200]);
  expect(await get('/v1/accounts/acme')).toBe(404);
  await app.close();
});
