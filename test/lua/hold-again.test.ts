import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SYSTEM_TENANT } from '../../events/index.js';
import type { Command, Reserve } from '../../src/core/command.js';
import { byUnit, funded, openHarness, PARTITION, reserveOf, sole } from './harness.js';
import type { Harness } from './harness.js';

let h: Harness;
beforeEach(async () => {
  h = await openHarness();
  h.decide(...funded('acme', 200n));
  await h.rebuild();
});
afterEach(() => h.close());

const hold = (id: string, given: Partial<Reserve> = {}) =>
  h.side.holds.hold(PARTITION, reserveOf(id, { requested: sole(65n), ...given }));
const available = async () => (await h.sample()).accounts.get('acme')?.available;
const recorded = (id: string) => h.log.state.reservations.get(`acme/${id}`);
/** Decides and applies. */
const happened = async (...commands: readonly Command[]): Promise<void> => {
  h.decide(...commands);
  expect((await h.apply()).kind).toBe('applied');
};

describe('an id that is only a speculation', () => {
  test('comes back with its recorded amount, and is taken once', async () => {
    await hold('r1');
    expect(await hold('r1')).toMatchObject({ kind: 'held', amounts: new Map([['USD', 65n]]) });
    expect(await available()).toBe(135n);
  });

  test('keeps its amount when max_cost has risen since', async () => {
    await hold('r1', { model: 'gpt' });
    await happened({ kind: 'set_max_cost', tenant: SYSTEM_TENANT, model: 'gpt', amounts: new Map([['USD', 150n]]) });
    expect(await hold('r1', { model: 'gpt' })).toMatchObject({ kind: 'held', amounts: new Map([['USD', 65n]]) });
  });

  test('comes back although the account is empty now', async () => {
    await hold('r1', { requested: sole(200n) });
    expect(await hold('r1', { requested: sole(200n) })).toMatchObject({ kind: 'held' });
    expect(await hold('r2', { requested: sole(1n) })).toMatchObject({ kind: 'refused' });
  });

  test.each<[string, Partial<Reserve>]>([
    ['amount', { requested: sole(66n) }],
    ['model', { model: 'gpt' }],
    ['accounts', { accounts: ['acme', 'acme/x'] }],
    ['ttl', { ttlSeconds: 601 }],
  ])('with another %s is for the journal', async (_, contents) => {
    await hold('r1');
    expect(await hold('r1', contents)).toEqual({ kind: 'ask_journal', why: 'contents_differ' });
    expect(await available()).toBe(135n);
  });

  test('is another tenant’s own under the same id', async () => {
    await happened(...funded('other', 100n));
    await hold('r1');
    const outcome = await h.side.holds.hold(
      PARTITION,
      reserveOf('r1', { tenant: 'other', accounts: ['other'], requested: sole(100n) }),
    );
    expect(outcome).toMatchObject({ kind: 'held', amounts: new Map([['USD', 100n]]) });
    expect(await available()).toBe(135n);
  });
});

describe('an id whose Reserved is applied', () => {
  const r1 = reserveOf('r1', { requested: sole(65n), model: 'gpt' });
  const cost = (amount: bigint): Command => ({ kind: 'finalize', tenant: 'acme', id: 'r1', cost: sole(amount) });

  test.each<[string, readonly Command[]]>([
    ['open', []],
    ['extended', [{ kind: 'extend', tenant: 'acme', id: 'r1', ttlSeconds: 3600 }]],
    ['finalized', [cost(50n)]],
    ['finalized above max_cost', [cost(500n)]],
    ['refunded', [{ kind: 'refund', tenant: 'acme', id: 'r1', reason: 'failed' }]],
  ])('%s: gets the first answer with the present state, and nothing is taken', async (_, commands) => {
    await happened(r1, ...commands);
    const before = await available();
    expect(await hold('r1', { model: 'gpt' })).toEqual({ kind: 'known', reservation: recorded('r1') });
    expect(await available()).toBe(before);
  });

  test('expired and then finalized late: says both', async () => {
    h.decide(r1);
    h.log.nowMs += 601_000;
    await happened({ kind: 'expire', tenant: 'acme', id: 'r1' }, cost(40n));
    expect(await hold('r1', { model: 'gpt' })).toEqual({ kind: 'known', reservation: recorded('r1') });
    expect(recorded('r1')).toMatchObject({ state: 'finalized', late: true, reason: 'expired' });
  });

  test('is the same however its one amount is written', async () => {
    await happened(reserveOf('r1', { requested: sole(65n) }));
    expect(await hold('r1', { requested: byUnit({ USD: 65n }) })).toMatchObject({ kind: 'known' });
  });

  test.each<[string, Partial<Reserve>, string]>([
    ['another amount', { model: 'gpt', requested: sole(64n) }, 'contents_differ'],
    ['another model', { model: 'claude' }, 'contents_differ'],
    ['another account', { model: 'gpt', accounts: ['acme/x'] }, 'contents_differ'],
  ])('with %s is for the journal', async (_, contents, why) => {
    await happened(r1);
    expect(await hold('r1', contents)).toEqual({ kind: 'ask_journal', why });
  });

  test('with metadata is for the journal, which alone keeps it', async () => {
    await happened(reserveOf('r1', { requested: sole(65n), metadata: { trace: 'x' } }));
    expect(await hold('r1')).toEqual({ kind: 'ask_journal', why: 'has_metadata' });
  });

  test('closed by a finalize that no reserve came before is for the journal to refuse', async () => {
    await happened({ kind: 'finalize', tenant: 'acme', id: 'r1', cost: sole(5n), accounts: ['acme'] });
    expect(await hold('r1')).toEqual({ kind: 'ask_journal', why: 'closed_cold' });
  });
});
