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

interface One {
  readonly status: number;
  readonly idempotency_hit?: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

const batch = async (commands: readonly object[]): Promise<readonly One[]> => {
  const answer = await http.post('/v1/batch', { commands });
  expect(answer.status).toBe(200);
  return answer.body['results'] as One[];
};

describe('a batch', () => {
  test('answers each command with the status and body that it has alone, in order', async () => {
    const commands = [
      { op: 'open', id: 'acme/team', unit: 'USD' },
      { op: 'recharge', account: 'acme', id: 'p1', amount: '5' },
      { op: 'adjust', account: 'acme', id: 'a1', amount: '-5', reason: 'test' },
      { op: 'reserve', id: 'r1', amount: '100' },
      { op: 'reserve', id: 'r2', amount: '99999' },
      { op: 'refund', id: 'nobody', reason: 'x' },
    ];
    const together = await batch(commands);
    await http.reset();
    await http.fund('acme', '1000');
    const alone = [
      await http.post('/v1/accounts', { id: 'acme/team', unit: 'USD' }),
      await http.post('/v1/accounts/acme/recharges', { id: 'p1', amount: '5' }),
      await http.post('/v1/accounts/acme/adjustments', { id: 'a1', amount: '-5', reason: 'test' }),
      await http.post('/v1/reservations', { id: 'r1', amount: '100' }),
      await http.post('/v1/reservations', { id: 'r2', amount: '99999' }),
      await http.post('/v1/reservations/nobody/refund', { reason: 'x' }),
    ];
    expect(together).toEqual(alone.map(({ status, body }) => ({ status, body })));
    expect(together.map((r) => r.status)).toEqual([201, 201, 201, 201, 429, 404]);
  });

  test('carries out the commands of one id in their order', async () => {
    const results = await batch([
      { op: 'reserve', id: 'r1', amount: '100' },
      { op: 'extend', id: 'r1', ttl_seconds: 3600 },
      { op: 'finalize', id: 'r1', amount: '40' },
      { op: 'reserve', id: 'r1', amount: '100' },
      { op: 'refund', id: 'r1', reason: 'x' },
      { op: 'get', id: 'r1' },
    ]);
    expect(results.map((r) => r.status)).toEqual([201, 200, 200, 201, 409, 200]);
    expect(results[3]).toMatchObject({ idempotency_hit: true, body: { state: 'finalized' } });
    expect(results[5]).toMatchObject({ body: { state: 'finalized', cost: { USD: '40' } } });
  });

  test('carries out commands of different ids at once, so that they share a group commit', async () => {
    await batch(Array.from({ length: 100 }, (_none, i) => ({ op: 'reserve', id: `r${i}`, amount: '1' })));
    expect(http.journal.atOnceMax).toBe(100);
    expect((await http.get('/v1/accounts/acme')).body).toMatchObject({ available: '900', held: '100' });
  });

  test('goes on when one of its commands fails', async () => {
    http.journal.failure = new UnavailableError('outcome_unknown', 'the connection to 10.0.0.7 broke');
    const results = await batch([
      { op: 'reserve', id: 'r1', amount: '1' },
      { op: 'reserve', id: 'r2', amount: '1' },
    ]);
    expect(results).toMatchObject([{ status: 503, body: { code: 'outcome_unknown' } }, { status: 201 }]);
    expect(JSON.stringify(results)).not.toContain('10.0.0.7');
  });

  test('answers 500 for what nobody foresaw, in that place only, and says where to look', async () => {
    http.journal.failure = new Error('secret detail');
    const results = await batch([
      { op: 'reserve', id: 'r1', amount: '1' },
      { op: 'reserve', id: 'r2', amount: '1' },
    ]);
    expect(results).toMatchObject([{ status: 500, body: { code: 'internal_error' } }, { status: 201 }]);
    expect(JSON.stringify(results)).not.toContain('secret detail');
    expect(http.lines.join('')).toContain('secret detail');
  });
});
