import { describe, expect, test } from 'vitest';
import { byUnit, none, sole } from '../core/orders.js';
import * as make from '../../../src/service/commands.js';
import type { CommandDefaults } from '../../../src/service/commands.js';
import { InvalidInputError } from '../../../src/service/ledger.js';

const DEFAULTS: CommandDefaults = { ttlSeconds: 600, ttlMaxSeconds: 3600, holdPolicy: 'larger', level: 'durable' };
const MAX = 2n ** 63n - 1n;

/** The field that an input is refused for; undefined when it is not. */
const refused = (act: () => unknown): string | undefined => {
  try {
    act();
  } catch (error) {
    if (error instanceof InvalidInputError) return error.field;
    throw error;
  }
  return undefined;
};

const reserve = (more: object = {}) => make.reserveOf({ tenant: 'acme', amount: sole(1n), ...more }, DEFAULTS);
const finalize = (more: object = {}) => make.finalizeOf({ tenant: 'acme', id: 'r1', amount: sole(1n), ...more });
const recharge = (more: object = {}) => make.rechargeOf({ tenant: 'acme', account: 'acme', amount: 1n, ...more });
const adjust = (more: object = {}) =>
  make.adjustOf({ tenant: 'acme', account: 'acme', amount: -1n, reason: 'wrong invoice', ...more });
const open = (more: object = {}) => make.openAccountOf({ account: 'acme', unit: 'USD', ...more });

describe('what an input leaves open is filled in', () => {
  test('a reserve: an id, the tenant’s wallet, the configured time to live, policy and level', () => {
    expect(reserve()).toEqual({
      kind: 'reserve',
      tenant: 'acme',
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/) as string,
      accounts: ['acme'],
      requested: sole(1n),
      policy: 'larger',
      ttlSeconds: 600,
      level: 'durable',
    });
  });

  test('a recharge and an adjustment: an id', () => {
    expect(recharge().id).not.toBe(recharge().id);
    expect(adjust().id).not.toBe(adjust().id);
  });

  test('an account: scale 6, no overdraft, not exempt; its tenant is the first part of its name', () => {
    expect(open({ account: 'acme/team/a' })).toMatchObject({
      tenant: 'acme',
      account: 'acme/team/a',
      scale: 6,
      overdraftLimit: 0n,
      exempt: false,
    });
  });

  test('a level below the configured one is raised to it, and a higher one counts', () => {
    expect(reserve({ level: 'fast' }).level).toBe('durable');
    expect(reserve({ level: 'replicated' }).level).toBe('replicated');
    const strict = { ...DEFAULTS, level: 'replicated' } as const;
    expect(make.reserveOf({ tenant: 'acme', amount: sole(1n), level: 'durable' }, strict).level).toBe('replicated');
  });
});

/** Callers in JavaScript pass what they like. */
const BAD_IDS: readonly unknown[] = ['', 'a b', 'é', 'a'.repeat(129), 'a\n', 5, null];
const BAD_AMOUNTS: readonly unknown[] = [-1n, MAX + 1n, 1, '1', Number.NaN, undefined];

describe('a bad input names its field', () => {
  test.each<[string, string, readonly unknown[], (value: never) => unknown]>([
    ['a reserve', 'tenant', [...BAD_IDS, 'a/b', '-a', '@holdfast'], (v) => reserve({ tenant: v })],
    ['a reserve', 'id', BAD_IDS.slice(0, -1), (v) => reserve({ id: v })],
    ['a reserve', 'model', BAD_IDS.slice(0, -1), (v) => reserve({ model: v })],
    ['a reserve', 'accounts', [[], ['acme', 'acme'], ['acme/'], ['a b'], [5], Array.from({ length: 9 }, (_, n) => `acme/${n}`)], (v) => reserve({ accounts: v })],
    ['a reserve', 'amount', BAD_AMOUNTS.map((amount) => ({ kind: 'sole', amount })), (v) => reserve({ amount: v })],
    ['a reserve', 'amounts.USD', [-1n, MAX + 1n], (v) => reserve({ amount: byUnit({ USD: v }) })],
    ['a reserve', 'amounts', [byUnit({}), byUnit({ usd: 1n }), byUnit(Object.fromEntries('ABCDEFGHI'.split('').map((u) => [u, 1n])))], (v) => reserve({ amount: v })],
    ['a reserve', 'ttl_seconds', [0, -1, 1.5, 3601, Number.NaN, Infinity, '600'], (v) => reserve({ ttlSeconds: v })],
    ['a reserve', 'level', ['', 'FAST', 5], (v) => reserve({ level: v })],
    ['a reserve', 'hold_policy', ['', 'largest'], (v) => reserve({ policy: v })],
    ['a reserve', 'metadata', [[], null, 'text', 5, { a: 1n }, { a: 'x'.repeat(4096) }, JSON.parse('{"a":[{"__proto__":1}]}')], (v) => reserve({ metadata: v })],
    ['a finalize', 'id', BAD_IDS, (v) => finalize({ id: v })],
    ['a finalize', 'amount', [none, sole(-1n)], (v) => finalize({ amount: v })],
    ['a finalize', 'usage', [{ 'a b': 1 }, { ['__proto__']: 1 }, { a: -1 }, { a: 1.5 }, { a: '1' }, Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`k${n}`, 1]))], (v) => finalize({ usage: v })],
    ['a refund', 'reason', ['', 'Failed', 'a b', 'expired', '1a', 'a'.repeat(65), 5], (v) => make.refundOf({ tenant: 'acme', id: 'r1', reason: v })],
    ['an extend', 'ttl_seconds', [0, 3601, 1.5], (v) => make.extendOf({ tenant: 'acme', id: 'r1', ttlSeconds: v }, DEFAULTS)],
    ['a recharge', 'amount', [0n, ...BAD_AMOUNTS], (v) => recharge({ amount: v })],
    ['a recharge', 'reference', BAD_IDS.slice(0, -1), (v) => recharge({ reference: v })],
    ['a recharge', 'account', ['', 'acme/', '/a', 'a b', 5], (v) => recharge({ account: v })],
    ['an adjustment', 'amount', [0n, MAX + 1n, -MAX - 1n, 1], (v) => adjust({ amount: v })],
    ['an adjustment', 'reason', ['', '  ', 'x'.repeat(501), 5], (v) => adjust({ reason: v })],
    ['an account', 'id', ['', 'acme/', '/a', '@holdfast'], (v) => open({ account: v })],
    ['an account', 'unit', ['', 'usd', '1A', 'U'.repeat(17), 5], (v) => open({ unit: v })],
    ['an account', 'scale', [-1, 19, 1.5, '6'], (v) => open({ scale: v })],
    ['an account', 'overdraft_limit', BAD_AMOUNTS.slice(0, -1), (v) => open({ overdraftLimit: v })],
    ['a max_cost', 'amounts', [new Map()], (v) => make.setMaxCostOf({ model: 'gpt', amounts: v })],
    ['a max_cost', 'model', BAD_IDS, (v) => make.setMaxCostOf({ model: v, amounts: new Map([['USD', 1n]]) })],
  ])('%s: %s', (_what, field, values, act) => {
    for (const value of values) expect(refused(() => act(value as never)), String(value)).toBe(field);
  }); // prettier-ignore

  test('a reserve with neither amount nor model: amount', () => {
    expect(refused(() => make.reserveOf({ tenant: 'acme' }, DEFAULTS))).toBe('amount');
    expect(refused(() => make.reserveOf({ tenant: 'acme', model: 'gpt' }, DEFAULTS))).toBeUndefined();
  });
});

describe('what is at the edge is taken', () => {
  test('amounts of 0 and of 2^63 − 1; names of 128; eight accounts; metadata of 4,096 bytes', () => {
    const accounts = Array.from({ length: 8 }, (_, n) => `acme/${n}`);
    const metadata = { a: 'x'.repeat(4096 - '{"a":""}'.length) };
    const id = 'a'.repeat(128);
    expect(reserve({ amount: sole(0n), accounts, metadata, id })).toMatchObject({ accounts, metadata, id });
    expect(reserve({ amount: sole(MAX) })).toMatchObject({ requested: { amount: MAX } });
    expect(adjust({ amount: -MAX }).amount).toBe(-MAX);
    expect(reserve({ ttlSeconds: 3600 }).ttlSeconds).toBe(3600);
  });

  test('metadata counts in bytes, not in characters', () => {
    const text = '😀'.repeat(1023);
    expect(refused(() => reserve({ metadata: { a: text } }))).toBe('metadata');
    expect(text.length).toBeLessThan(4096);
  });
});

describe('metadata enters as the log will have it', () => {
  test('what JSON drops is dropped, and what the caller changes afterwards is not', () => {
    const metadata: Record<string, unknown> = { kept: 1, dropped: undefined, at: new Date(0) };
    const command = reserve({ metadata });
    metadata['kept'] = 2;
    expect(command.metadata).toStrictEqual({ kept: 1, at: '1970-01-01T00:00:00.000Z' });
  });

  test('a circle is refused', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(refused(() => reserve({ metadata: circle }))).toBe('metadata');
  });
});

describe('a trace context', () => {
  const good = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  test('is taken when well formed and dropped when not: it must not fail a request', () => {
    expect(reserve({ traceparent: good }).traceparent).toBe(good);
    for (const bad of ['', 'x', good.toUpperCase(), `${good} `]) expect(reserve({ traceparent: bad })).not.toHaveProperty('traceparent'); // prettier-ignore
  });
});
