import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AMOUNT_MAX, SYSTEM_TENANT } from '../../events/index.js';
import type { Command } from '../../src/core/command.js';
import { callScript, funded, openHarness, PARTITION, reserveOf, sole } from './harness.js';
import type { Harness } from './harness.js';

let h: Harness;
beforeEach(async () => {
  h = await openHarness();
  h.decide(...funded('acme', 200n));
  await h.rebuild();
});
afterEach(() => h.close());

const buckets = async (account = 'acme') => (await h.sample()).accounts.get(account);
const apply = (from: number, to?: number, incarnation = 1) =>
  h.side.balances.apply(PARTITION, incarnation, h.log.events.slice(from, to));
const R1 = reserveOf('r1', { requested: sole(65n) });
const finalize = (cost: bigint): Command => ({ kind: 'finalize', tenant: 'acme', id: 'r1', cost: sole(cost) });
const refund: Command = { kind: 'refund', tenant: 'acme', id: 'r1', reason: 'failed' };

describe('every event is added up', () => {
  test.each<[string, readonly Command[], object]>([
    ['Recharged', [{ kind: 'recharge', tenant: 'acme', account: 'acme', id: 'p', amount: 5n }], { available: 205n, funded: -205n }], // prettier-ignore
    ['Adjusted', [{ kind: 'adjust', tenant: 'acme', account: 'acme', id: 'a', amount: -300n, reason: 'x' }], { available: -100n, funded: 100n }], // prettier-ignore
    ['Reserved', [R1], { available: 135n, held: 65n }],
    ['Finalized', [R1, finalize(50n)], { available: 150n, held: 0n, used: 50n }],
    ['Finalized above what was held, below zero', [R1, finalize(500n)], { available: -300n, held: 0n, used: 500n }],
    ['Finalized cold', [{ ...finalize(5n), accounts: ['acme'] } as Command], { available: 195n, used: 5n }],
    ['Refunded', [R1, refund], { available: 200n, held: 0n }],
    ['Extended', [R1, { kind: 'extend', tenant: 'acme', id: 'r1', ttlSeconds: 3600 }], { available: 135n, held: 65n }],
  ])('%s', async (_, commands, expected) => {
    h.decide(...commands);
    expect(await h.apply()).toEqual({ kind: 'applied', checkpoint: h.log.head.position });
    expect(await buckets()).toMatchObject(expected);
  });

  test('AccountOpened: the account can be held from', async () => {
    h.decide(...funded('acme/new', 9n, { overdraftLimit: 1n }));
    await h.apply();
    const outcome = await h.side.holds.hold(
      PARTITION,
      reserveOf('r1', { accounts: ['acme/new'], requested: sole(10n) }),
    );
    expect(outcome.kind).toBe('held');
  });

  test('MaxCostSet and MaxCostRaised: a copy is replaced by a higher revision only', async () => {
    const set = (amount: bigint): Command => ({
      kind: 'set_max_cost',
      tenant: SYSTEM_TENANT,
      model: 'gpt',
      amounts: new Map([['USD', amount]]),
    });
    h.decide(set(10n), { ...R1, model: 'gpt' }, finalize(70n), set(40n));
    await h.apply();
    expect(await h.raw.hget(h.keys.models, 'gpt=USD')).toBe(`3 40 ${(AMOUNT_MAX - 40n).toString()}`);
    const older = { model: 'gpt', unit: 'USD', amount: 70n, revision: 2 };
    await h.side.readiness.putMaxCosts(PARTITION, [older, { ...older, model: 'new', revision: 1 }]);
    expect(await h.raw.hgetall(h.keys.models)).toEqual({
      'gpt=USD': `3 40 ${(AMOUNT_MAX - 40n).toString()}`,
      'new=USD': `1 70 ${(AMOUNT_MAX - 70n).toString()}`,
    });
  });
});

describe('the checkpoint makes applying idempotent', () => {
  beforeEach(() => {
    h.decide(R1, finalize(50n), reserveOf('r2', { requested: sole(10n) }));
  });

  test('given a run that was applied, when it comes again, whole or in part, then nothing changes', async () => {
    await h.apply();
    const before = await buckets();
    for (const from of [0, 2, 3, 4]) expect(await apply(from)).toEqual({ kind: 'applied', checkpoint: 5 });
    expect(await apply(0, 3)).toEqual({ kind: 'applied', checkpoint: 5 });
    expect(await buckets()).toEqual(before);
  });

  test('given a run that starts later than the next position, then the gap is named', async () => {
    expect(await apply(3)).toEqual({ kind: 'gap', checkpoint: 2 });
    expect(await apply(0)).toEqual({ kind: 'applied', checkpoint: 5 });
  });

  test('given a log that differs at the checkpoint, then it is a fork and the checkpoint is gone', async () => {
    const other = await openHarness();
    other.decide(...funded('acme', 201n), R1);
    const run = other.log.events.slice(2);
    await other.close();
    expect(await h.side.balances.apply(PARTITION, 1, run)).toEqual({ kind: 'fork' });
    expect(await h.side.balances.checkpoint(PARTITION)).toBeUndefined();
    expect(await apply(2)).toEqual({ kind: 'not_ready' });
    expect(await h.side.holds.hold(PARTITION, R1)).toEqual({ kind: 'ask_journal', why: 'no_checkpoint' });
  });

  test('given a run from before a restore, then it is refused', async () => {
    expect(await apply(2, 3, 2)).toEqual({ kind: 'applied', checkpoint: 3 });
    expect(await apply(3, 4, 1)).toEqual({ kind: 'stale_incarnation' });
    expect(await apply(3, 4, 2)).toEqual({ kind: 'applied', checkpoint: 4 });
  });
});

describe('an event that meets a speculation of its id replaces it', () => {
  const hold = (amount: bigint) => h.side.holds.hold(PARTITION, { ...R1, requested: sole(amount) });

  test.each([65n, 40n, 90n])('given that %s was taken, when 65 is applied, then 65 is held', async (amount) => {
    await hold(amount);
    h.decide(R1);
    await h.apply();
    expect(await buckets()).toMatchObject({ available: 135n, held: 65n });
    expect((await h.sample()).speculations).toEqual([]);
  });

  test('given a cold finalize of an id that is held, then only its cost is left', async () => {
    await hold(65n);
    h.decide({ ...finalize(5n), accounts: ['acme'] } as Command);
    await h.apply();
    expect(await buckets()).toEqual({ available: 195n, held: 0n, used: 5n, funded: -200n });
    expect((await h.sample()).speculations).toEqual([]);
  });
});

describe('a bucket that would leave 64 bits', () => {
  test('takes the checkpoint away, refuses holds, and a rebuild heals it', async () => {
    h.decide(...funded('acme/rich', AMOUNT_MAX));
    await h.apply();
    const rich = (id: string) => reserveOf(id, { accounts: ['acme/rich'], requested: sole(AMOUNT_MAX - 9n) });
    await h.side.holds.hold(PARTITION, rich('r1'));
    // The journal grants another one: for it, the speculation does not count, and the sum of both can't be held.
    h.decide(rich('r2'), reserveOf('r3', { requested: sole(3n) }));
    expect(await h.apply()).toEqual({ kind: 'overflow' });
    expect(await h.side.holds.hold(PARTITION, R1)).toEqual({ kind: 'ask_journal', why: 'no_checkpoint' });
    await h.rebuild();
    expect((await h.sample()).speculations).toEqual([]);
    expect(await buckets('acme/rich')).toMatchObject({ available: 9n, held: AMOUNT_MAX - 9n });
    expect(await buckets()).toMatchObject({ available: 197n });
  });
});

describe('ids that are closed are remembered for a time', () => {
  const applyWith = async (retention: number, keep: number) => {
    const [event] = h.log.events.slice(-1);
    if (event === undefined) throw new Error('Decide something first.');
    h.decide({
      kind: 'recharge',
      tenant: 'acme',
      account: 'acme',
      id: `p${h.log.head.position.toString()}`,
      amount: 1n,
    });
    await h.apply();
    const more = { kind: 'recharge', tenant: 'acme', account: 'acme', id: `q${h.log.head.position.toString()}`, amount: 1n } as const; // prettier-ignore
    const { events } = h.decide(more);
    const [next] = events;
    if (next === undefined) throw new Error('A recharge makes an event.');
    const args = { inc: '1', first: next.event.position.toString(), prev: next.prevHash };
    const text = `${next.hash} post - - acme=1=0=0=-1`;
    return callScript(h, 'apply', { ...args, retention: retention.toString(), keep: keep.toString() }, [text]);
  };
  const closeMany = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const id = `c${i.toString()}`;
      h.decide(reserveOf(id, { requested: sole(1n) }), { kind: 'refund', tenant: 'acme', id, reason: 'failed' });
    }
    await h.apply();
  };

  test('given that the time is over, then they are dropped, oldest first, a bounded number in each call', async () => {
    await closeMany(30);
    expect(await h.raw.hlen(h.keys.holds)).toBe(30);
    await applyWith(-60_000, 1000);
    expect(await h.raw.hlen(h.keys.holds)).toBe(12);
    expect(await h.raw.hexists(h.keys.holds, 'acme/c17')).toBe(0);
    expect(await h.raw.hexists(h.keys.holds, 'acme/c18')).toBe(1);
    await applyWith(-60_000, 1000);
    expect(await h.raw.hlen(h.keys.holds)).toBe(0);
  });

  test('given too many, then the oldest are dropped although their time is not over', async () => {
    await closeMany(10);
    await applyWith(3_600_000, 4);
    expect(await h.raw.lrange(h.keys.closed, 0, -1)).toHaveLength(4);
    expect((await h.raw.hkeys(h.keys.holds)).sort()).toEqual(['acme/c6', 'acme/c7', 'acme/c8', 'acme/c9']);
  });

  test('given open ones, then they stay', async () => {
    h.decide(R1);
    await h.apply();
    await applyWith(-60_000, 0);
    expect(await h.raw.hexists(h.keys.holds, 'acme/r1')).toBe(1);
  });
});
