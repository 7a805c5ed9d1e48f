import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { costOf, maxCostOf, pricePerMillion } from '../../../src/pricing/index.js';
import type { Rounding, TokenUsage } from '../../../src/pricing/index.js';

const ROUNDINGS: readonly Rounding[] = ['half_up', 'half_even', 'up'];

/** Prices as people write them, with up to 6 decimals: a whole number of millionths of a dollar per million tokens. */
const priceText = fc.tuple(fc.bigInt(0n, 10n ** 9n), fc.integer({ min: 0, max: 6 })).map(([n, places]) => ({
  text:
    places === 0
      ? n.toString()
      : `${n / 10n ** BigInt(places)}.${(n % 10n ** BigInt(places)).toString().padStart(places, '0')}`,
  /** Trillionths of a dollar a token: the exact number, worked out without the code under test. */
  pico: n * 10n ** BigInt(6 - places),
}));

const usage = fc
  .record({
    plain: fc.integer({ min: 0, max: 300_000 }),
    cacheReadTokens: fc.integer({ min: 0, max: 300_000 }),
    cacheWriteTokens: fc.integer({ min: 0, max: 300_000 }),
    outputTokens: fc.integer({ min: 0, max: 300_000 }),
  })
  .map(({ plain, ...rest }) => ({ ...rest, plain, inputTokens: plain + rest.cacheReadTokens + rest.cacheWriteTokens }));

const prices = fc.record({ input: priceText, output: priceText, cacheRead: priceText, cacheWrite: priceText });
const textsOf = (p: { [K in 'input' | 'output' | 'cacheRead' | 'cacheWrite']: { text: string } }) => ({
  input: p.input.text,
  output: p.output.text,
  cacheRead: p.cacheRead.text,
  cacheWrite: p.cacheWrite.text,
});

/** Rounding said the long way: the candidates below and above, and which is nearer. */
const expectedRound = (pico: bigint, unit: bigint, rounding: Rounding): bigint => {
  const below = pico / unit;
  const above = below * unit === pico ? below : below + 1n;
  if (rounding === 'up' || below === above) return above;
  const [down, up] = [pico - below * unit, above * unit - pico];
  if (down !== up) return down < up ? below : above;
  if (rounding === 'half_up') return above;
  return below % 2n === 0n ? below : above;
};

describe('the cost of a request', () => {
  test('is the exact sum over its tokens, rounded once, in every mode and scale', () => {
    fc.assert(
      fc.property(
        prices,
        usage,
        fc.constantFrom(...ROUNDINGS),
        fc.integer({ min: 0, max: 12 }),
        (p, u, rounding, scale) => {
          const pico =
            p.input.pico * BigInt(u.plain) +
            p.cacheRead.pico * BigInt(u.cacheReadTokens) +
            p.cacheWrite.pico * BigInt(u.cacheWriteTokens) +
            p.output.pico * BigInt(u.outputTokens);
          const expected = expectedRound(pico, 10n ** BigInt(12 - scale), rounding);
          if (expected > 2n ** 63n - 1n) return;
          expect(costOf(pricePerMillion('m', textsOf(p)), u, { scale, rounding })).toBe(expected);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('is never more than the most that it can cost', () => {
    fc.assert(
      fc.property(prices, usage, fc.constantFrom(...ROUNDINGS), (p, u, rounding) => {
        const price = pricePerMillion('m', textsOf(p));
        const most = maxCostOf(price, u.inputTokens, u.outputTokens, { rounding });
        expect(costOf(price, u, { rounding })).toBeLessThanOrEqual(most);
      }),
    );
  });

  test('agrees with fractions in Python', (context) => {
    if (spawnSync('python3', ['--version']).status !== 0) context.skip('python3 is not on the PATH');
    const cases = fc.sample(fc.tuple(prices, usage), 200);
    const script = [
      'import json,sys',
      'from fractions import Fraction as F',
      'from math import floor',
      'for p,u in json.load(sys.stdin):',
      "  c=sum(F(p[k])*u[t] for k,t in (('input','plain'),('cacheRead','cacheReadTokens'),('cacheWrite','cacheWriteTokens'),('output','outputTokens')))",
      '  print(floor(c+F(1,2)), round(c), -floor(-c))',
    ].join('\n');
    const input = JSON.stringify(cases.map(([p, u]) => [textsOf(p), u]));
    const { stdout } = spawnSync('python3', ['-c', script], { input, encoding: 'utf8' });
    const ours = cases.map(([p, u]) =>
      ROUNDINGS.map((rounding) => costOf(pricePerMillion('m', textsOf(p)), u, { rounding }).toString()).join(' '),
    );
    expect(stdout.trim().split('\n')).toEqual(ours);
  });
});

describe('half a unit', () => {
  const cents = (input: string, tokens: number, rounding?: Rounding): bigint =>
    costOf(
      pricePerMillion('m', { input, output: '0' }),
      { inputTokens: tokens, outputTokens: 0 },
      {
        scale: 2,
        ...(rounding === undefined ? {} : { rounding }),
      },
    );

  test('of a cent counts as a cent unless told otherwise', () => {
    expect(cents('5', 1_000)).toBe(1n);
    expect(cents('5', 1_000, 'half_even')).toBe(0n);
    expect(cents('5', 3_000, 'half_even')).toBe(2n);
    expect(cents('5', 1_000, 'up')).toBe(1n);
  });

  test('less the smallest token does not', () => {
    expect(cents('4.999999', 1_000)).toBe(0n);
    expect(cents('4.999999', 1_000, 'up')).toBe(1n);
    expect(cents('0.000001', 1, 'up')).toBe(1n);
  });

  test('is not rounded a second time: parts that are halves add up', () => {
    const price = pricePerMillion('m', { input: '0.5', output: '0.5' });
    expect(costOf(price, { inputTokens: 1, outputTokens: 1 })).toBe(1n);
  });
});

describe('known costs', () => {
  test('10,000 requests of 7 cents are 700 dollars to the unit', () => {
    const price = pricePerMillion('m', { input: '70', output: '0' });
    let sum = 0n;
    for (let i = 0; i < 10_000; i++) sum += costOf(price, { inputTokens: 1_000, outputTokens: 0 });
    expect(sum).toBe(700_000_000n);
  });

  test('cached prompt tokens are charged once, at their own rate', () => {
    const gpt4o = pricePerMillion('gpt-4o', { input: '2.50', output: '10', cacheRead: '1.25' });
    const usage: TokenUsage = { inputTokens: 1_000, cacheReadTokens: 400, outputTokens: 100 };
    expect(costOf(gpt4o, usage)).toBe((600n * 25n) / 10n + (400n * 125n) / 100n + 1_000n);
  });

  test('without a price for cached tokens they cost what the others do', () => {
    const price = pricePerMillion('m', { input: '2', output: '0' });
    expect(costOf(price, { inputTokens: 10, cacheReadTokens: 4, outputTokens: 0 })).toBe(20n);
  });
});

describe('what is no usage or no price is refused by name', () => {
  const price = pricePerMillion('m', { input: '1', output: '1' });

  test.each([
    [{ inputTokens: -1, outputTokens: 0 }, 'inputTokens'],
    [{ inputTokens: 1.5, outputTokens: 0 }, 'inputTokens'],
    [{ inputTokens: 1, outputTokens: Number.NaN }, 'outputTokens'],
    [{ inputTokens: 1, outputTokens: 2 ** 53 }, 'outputTokens'],
    [{ inputTokens: 1, outputTokens: 0, cacheReadTokens: 2 }, 'cacheReadTokens'],
  ])('%j', (bad, field) => {
    expect(() => costOf(price, bad)).toThrow(
      expect.objectContaining({ code: 'bad_usage', message: expect.stringContaining(field) as string }),
    );
  });

  test.each(['', ' 1', '-1', '1e', '.5', '1.', '01', '0x1', 'NaN', '1e999', '9'.repeat(65)])('price %j', (input) => {
    expect(() => pricePerMillion('m', { input, output: '1' })).toThrow(expect.objectContaining({ code: 'bad_price' }));
  });

  test('a cost past 64 bits', () => {
    const dear = pricePerMillion('m', { input: '1e18', output: '0' });
    expect(() => costOf(dear, { inputTokens: 1_000_000, outputTokens: 0 })).toThrow(
      expect.objectContaining({ code: 'cost_overflow' }),
    );
  });

  test('a hold for a model whose largest output nobody knows', () => {
    expect(() => maxCostOf(price, 100)).toThrow(expect.objectContaining({ code: 'bad_usage' }));
  });
});
