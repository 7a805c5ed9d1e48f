import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { race, shuffledTenants } from '../../../bench/overspend/race.js';
import type { Contender, RaceResult, RaceSize } from '../../../bench/overspend/race.js';
import { judge, sentenceOf } from '../../../bench/overspend/verdict.js';

const SIZE: RaceSize = { tenants: 10, balance: 5, requests: 200, connections: 8 };

/** Balances in this process; `racy` looks and takes in two steps, as GET and DECRBY do. */
const contender = (racy: boolean): Contender => {
  const left = Array.from({ length: SIZE.tenants }, () => SIZE.balance);
  return {
    name: racy ? 'racy' : 'atomic',
    reserve: async (_connection, tenant) => {
      if (!racy) await setImmediate();
      if ((left[tenant] ?? 0) < 1) return 'refused';
      if (racy) await setImmediate();
      left[tenant] = (left[tenant] ?? 0) - 1;
      return 'granted';
    },
  };
};

const run = (of: Contender): Promise<RaceResult> => race(of, SIZE, shuffledTenants(SIZE, 1));

describe('a race for units', () => {
  test('gives every tenant its share of reserves, mixed, the same for the same seed', () => {
    const order = shuffledTenants(SIZE, 1);
    expect(order).toEqual(shuffledTenants(SIZE, 1));
    expect(order).not.toEqual(shuffledTenants(SIZE, 2));
    for (let tenant = 0; tenant < SIZE.tenants; tenant++)
      expect(order.filter((t) => t === tenant)).toHaveLength(SIZE.requests / SIZE.tenants);
  });

  test('counts a contender that is exact', async () => {
    const result = await run(contender(false));
    expect(result).toMatchObject({ granted: 50, refused: 150, unclear: 0, overspends: 0, falseRefusals: 0 });
    expect(result.latency.count).toBe(200);
  });

  test('counts what a racy one grants too much', async () => {
    const result = await run(contender(true));
    expect(result.granted).toBeGreaterThan(50);
    expect(result.overspends).toBe(result.granted - 50);
  });

  test('counts what one refuses although it is there', async () => {
    const result = await run({ name: 'none', reserve: () => Promise.resolve('refused') });
    expect(result).toMatchObject({ granted: 0, falseRefusals: 50 });
  });
});

describe('the verdict', () => {
  const result = (more: Partial<RaceResult>): RaceResult => ({
    name: '',
    granted: 50,
    refused: 150,
    unclear: 0,
    overspends: 0,
    falseRefusals: 0,
    seconds: 1,
    latency: { count: 200, p50_ms: 1, p99_ms: 2, max_ms: 3 },
    ...more,
  });
  const racy = result({ granted: 53, overspends: 3 });

  test.each([
    ['exact', result({}), racy],
    ['inconclusive', result({}), result({})],
    ['wrong', result({ granted: 51, overspends: 1 }), racy],
    ['wrong', result({ granted: 49, falseRefusals: 1 }), racy],
    ['wrong', result({ granted: 50, overspends: 1, falseRefusals: 1 }), racy],
    ['wrong', result({ unclear: 1 }), racy],
  ])('is %s', (verdict, guard, baseline) => {
    expect(judge(SIZE, guard, baseline)).toBe(verdict);
  });

  test('is a sentence with the figures', () => {
    expect(sentenceOf('exact', SIZE, result({}), racy)).toBe(
      'Of 200 reserves for 50 units over 8 connections, the Lua guard granted exactly 50 with 0 overspends (P50 1.00 ms, P99 2.00 ms); ' +
        'GET then DECRBY granted 53 with 3 overspends (P50 1.00 ms, P99 2.00 ms).',
    );
    expect(sentenceOf('inconclusive', SIZE, result({}), result({}))).toContain('INCONCLUSIVE');
    expect(sentenceOf('wrong', SIZE, result({ granted: 51 }), racy)).toContain('WRONG');
  });
});
