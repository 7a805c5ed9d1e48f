import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AMOUNT_MAX, SYSTEM_TENANT } from '../../events/index.js';
import type { Command, Reserve } from '../../src/core/command.js';
import { byUnit, callScript, funded, openHarness, PARTITION, reserveOf, sole } from './harness.js';
import type { Harness } from './harness.js';

let h: Harness;
beforeEach(async () => {
  h = await openHarness();
});
afterEach(() => h.close());

const hold = (id: string, given: Partial<Reserve> = {}) => h.side.holds.hold(PARTITION, reserveOf(id, given));
const given = async (...commands: readonly Command[]): Promise<void> => {
  h.decide(...commands);
  await h.rebuild();
};
const buckets = async (account: string) => (await h.sample()).accounts.get(account);
const maxCost = (model: string, amount: bigint, unit = 'USD') =>
  ({ kind: 'set_max_cost', tenant: SYSTEM_TENANT, model, amounts: new Map([[unit, amount]]) }) as const;
const held = (amount: bigint, unit = 'USD') => ({ kind: 'held', amounts: new Map([[unit, amount]]) });

describe('a hold takes from every account, or from none', () => {
  test('given 200, when 65 is reserved, then 65 is held and 135 left', async () => {
    await given(...funded('acme', 200n));
    expect(await hold('r1', { requested: sole(65n) })).toMatchObject(held(65n));
    expect(await buckets('acme')).toEqual({ available: 135n, held: 65n, used: 0n, funded: -200n });
  });

  test('given 200 and a cost of 65, when 10 come at once, then exactly 3 are held', async () => {
    await given(...funded('acme', 200n));
    const all = Array.from({ length: 10 }, (_, i) => hold(`r${i.toString()}`, { requested: sole(65n) }));
    const kinds = (await Promise.all(all)).map((outcome) => outcome.kind);
    expect(kinds.filter((kind) => kind === 'held')).toHaveLength(3);
    expect(kinds.filter((kind) => kind === 'refused')).toHaveLength(7);
    expect((await buckets('acme'))?.available).toBe(5n);
  });

  test('given a short quota in another unit, then the refusal names it and nothing is taken', async () => {
    await given(...funded('acme', 200n), ...funded('acme/quota', 10n, { unit: 'TOK' }));
    const requested = byUnit({ USD: 65n, TOK: 11n });
    const outcome = await hold('r1', { accounts: ['acme', 'acme/quota'], requested });
    expect(outcome).toEqual({ kind: 'refused', account: 'acme/quota', unit: 'TOK', available: 10n, required: 11n });
    expect((await buckets('acme'))?.available).toBe(200n);
    expect((await h.sample()).speculations).toEqual([]);
  });

  test('given an overdraft, then it counts as available, to its last unit', async () => {
    await given(...funded('acme', 10n, { overdraftLimit: 5n }));
    expect(await hold('r1', { requested: sole(16n) })).toMatchObject({ kind: 'refused', available: 15n });
    expect(await hold('r2', { requested: sole(15n) })).toMatchObject(held(15n));
    expect((await buckets('acme'))?.available).toBe(-5n);
  });

  test('given an exempt account, then it is granted below zero', async () => {
    await given(...funded('acme', 0n, { exempt: true }));
    expect(await hold('r1', { requested: sole(7n) })).toMatchObject(held(7n));
    expect((await buckets('acme'))?.available).toBe(-7n);
  });

  test.each([9007199254740993n, AMOUNT_MAX, AMOUNT_MAX - 1n])(
    'given %s, when 1 is reserved, then exact',
    async (all) => {
      await given(...funded('acme', all));
      expect(await hold('r1', { requested: sole(1n) })).toMatchObject(held(1n));
      expect(await buckets('acme')).toEqual({ available: all - 1n, held: 1n, used: 0n, funded: -all });
      expect(await hold('r2', { requested: sole(all) })).toMatchObject({ kind: 'refused', available: all - 1n });
    },
  );
});

describe('the amount is settled inside the script', () => {
  test.each([
    ['larger', 10n, 30n, 30n],
    ['larger', 50n, 30n, 50n],
    ['larger', 50n, undefined, 50n],
    ['larger', undefined, 30n, 30n],
    ['caller', 10n, 30n, 10n],
    ['caller', undefined, 30n, 30n],
    ['model', 50n, 30n, 30n],
  ] as const)('by policy %s, asked %s, max_cost %s: %s', async (policy, asked, known, amount) => {
    await given(...funded('acme', 200n), ...(known === undefined ? [] : [maxCost('gpt', known)]));
    const requested = asked === undefined ? {} : { requested: sole(asked) };
    expect(await hold('r1', { ...requested, policy, model: 'gpt' })).toMatchObject(held(amount));
  });

  test('given max_cost for one of two units, then the other is the caller’s', async () => {
    await given(...funded('acme', 200n), ...funded('acme/q', 900n, { unit: 'TOK' }), maxCost('gpt', 700n, 'TOK'));
    const outcome = await hold('r1', { accounts: ['acme', 'acme/q'], requested: byUnit({ USD: 3n }), model: 'gpt' });
    expect(outcome).toMatchObject({ kind: 'held', amounts: new Map([['USD', 3n], ['TOK', 700n]]) }); // prettier-ignore
  });
});

describe('what is irregular is for the journal, and takes nothing', () => {
  const two = { accounts: ['acme', 'acme/q'] };
  test.each<[string, Partial<Reserve>]>([
    ['account_missing', { accounts: ['acme', 'acme/none'], requested: sole(1n) }],
    ['irregular', { accounts: ['acme', 'other'], requested: sole(1n) }],
    ['irregular', { accounts: ['acme', 'acme'], requested: sole(1n) }],
    ['units_differ', { ...two, requested: sole(1n) }],
    ['units_differ', { requested: byUnit({ USD: 1n, EUR: 1n }) }],
    ['amount_unknown', {}],
    ['amount_unknown', { model: 'none', policy: 'model', requested: sole(1n) }],
    ['amount_unknown', { ...two, requested: byUnit({ USD: 1n }) }],
    ['amount_unknown', { requested: sole(-1n) }],
    ['overflow', { accounts: ['acme/free'], requested: sole(AMOUNT_MAX) }],
  ])('%s: %o', async (why, contents) => {
    await given(
      ...funded('acme', 200n),
      ...funded('other', 200n),
      ...funded('acme/q', 900n, { unit: 'TOK' }),
      ...funded('acme/free', 0n, { exempt: true }),
    );
    await hold('before', { accounts: ['acme/free'], requested: sole(2n) });
    expect(await hold('r1', contents)).toEqual({ kind: 'ask_journal', why });
    expect((await h.sample()).speculations.map((s) => s.id)).toEqual(['before']);
    expect((await buckets('acme'))?.available).toBe(200n);
    expect(await h.raw.exists(`${h.keys.accounts}:acme/none`)).toBe(0);
  });
});

describe('a hold is answered only where Redis can be relied upon', () => {
  const args = { id: 'acme/r1', epoch: '1', inc: '1', position: '2', policy: 'larger', model: '', level: 'durable' };
  const rest = { attempt: 'a', fingerprint: 'f', count: '1', deadline: '9999999999999' };
  const call = (changes: Partial<typeof args & typeof rest> = {}) =>
    callScript(h, 'hold', { ...args, ...rest, ...changes }, ['acme', '*', '5', (AMOUNT_MAX - 5n).toString()]);

  test.each([
    ['late', { deadline: '1000000000000' }],
    ['epoch_differs', { epoch: '2' }],
    ['went_back', { position: '3' }],
    ['went_back', { inc: '2', position: '1' }],
  ])('%s: given %o, then it does nothing', async (why, changes) => {
    await given(...funded('acme', 200n));
    expect(await call(changes)).toEqual(['ask', expect.any(Number), why]);
    expect((await h.sample()).speculations).toEqual([]);
    expect(await call()).toEqual(['held', expect.any(Number), 'acme=USD=5']);
  });

  test('not_ready: given a rebuild that ended, then not before ready', async () => {
    await given(...funded('acme', 200n));
    const rebuild = await h.side.rebuild.begin(PARTITION);
    expect(await hold('r1', { requested: sole(5n) })).toEqual({ kind: 'ask_journal', why: 'rebuilding' });
    await rebuild.accounts([...h.log.state.accounts.values()]);
    await rebuild.end({ ...h.log.head, incarnation: 1 });
    expect(await hold('r1', { requested: sole(5n) })).toEqual({ kind: 'ask_journal', why: 'not_ready' });
    expect(await h.side.readiness.ready(PARTITION, h.log.head.position)).toBe('ready');
    expect(await hold('r1', { requested: sole(5n) })).toMatchObject(held(5n));
  });

  test('no_checkpoint: given an empty Redis, then nothing is written', async () => {
    expect(await hold('r1', { requested: sole(5n) })).toEqual({ kind: 'ask_journal', why: 'no_checkpoint' });
    expect(await h.raw.exists(h.keys.specs)).toBe(0);
  });

  test('epoch_differs: given another node that raised it, then this node learns it by itself', async () => {
    await given(...funded('acme', 200n));
    h.epochs.raise(PARTITION);
    await h.raw.hset(h.keys.meta, { epoch: '2', ready: '2' });
    expect(await hold('r1', { requested: sole(5n) })).toEqual({ kind: 'ask_journal', why: 'epoch_differs' });
    await expect.poll(() => hold('r1', { requested: sole(5n) })).toMatchObject(held(5n));
  });
});
