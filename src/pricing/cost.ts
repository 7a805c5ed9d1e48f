import { AMOUNT_MAX } from '../../events/index.js';
import { PricingError } from './errors.js';
import { ratesFor } from './price.js';
import type { Price } from './price.js';
import { ZERO, add, larger, round, times } from './rational.js';
import type { Rational, Rounding } from './rational.js';

/** Tokens as a provider reports them, in safe whole numbers. */
export interface TokenUsage {
  /** All prompt tokens: those read from or written to a cache are among them, as in OpenAI's `prompt_tokens`. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
}

export interface CostOptions {
  /** Decimal places of the unit's smallest part: 6 makes micro-dollars, 2 makes cents. Default 6. */
  readonly scale?: number;
  /** Default `half_up`. */
  readonly rounding?: Rounding;
}

const SCALE_MAX = 18;

const tokens = (field: string, count: number): bigint => {
  if (!Number.isSafeInteger(count) || count < 0)
    throw new PricingError('bad_usage', `${field}: ${count.toString()} is not a number of tokens.`);
  return BigInt(count);
};

const settle = (cost: Rational, { scale = 6, rounding = 'half_up' }: CostOptions): bigint => {
  if (!Number.isInteger(scale) || scale < 0 || scale > SCALE_MAX)
    throw new PricingError('bad_price', `scale: ${scale.toString()} is not a whole number from 0 to ${SCALE_MAX}.`);
  const amount = round(times(cost, 10n ** BigInt(scale)), rounding);
  if (amount > AMOUNT_MAX) throw new PricingError('cost_overflow', 'The cost does not fit in 64 bits.');
  return amount;
};

/**
 * What a request cost, in the unit's smallest part (micro-dollars by default): summed exactly over all kinds of token,
 * rounded once. Cached prompt tokens are charged at their own rate and not a second time as prompt tokens.
 * @throws PricingError `bad_usage` for counts that contradict each other, `cost_overflow` past 64 bits.
 */
export const costOf = (price: Price, usage: TokenUsage, options: CostOptions = {}): bigint => {
  const input = tokens('inputTokens', usage.inputTokens);
  const output = tokens('outputTokens', usage.outputTokens);
  const cacheRead = tokens('cacheReadTokens', usage.cacheReadTokens ?? 0);
  const cacheWrite = tokens('cacheWriteTokens', usage.cacheWriteTokens ?? 0);
  const plain = input - cacheRead - cacheWrite;
  if (plain < 0n)
    throw new PricingError(
      'bad_usage',
      'cacheReadTokens and cacheWriteTokens are more than inputTokens, which counts them.',
    );
  const rates = ratesFor(price, input);
  const parts = [
    times(rates.input, plain),
    times(rates.cacheRead ?? rates.input, cacheRead),
    times(rates.cacheWrite ?? rates.input, cacheWrite),
    times(rates.output, output),
  ];
  return settle(parts.reduce(add, ZERO), options);
};

/**
 * The most that a request of at most `inputTokens` prompt tokens and `maxOutputTokens` generated ones can cost: never
 * less than costOf says for any such usage, whatever was cached and whichever tier it falls into, with the same options.
 * `maxOutputTokens` defaults to the model's largest output.
 * @throws PricingError `bad_usage` when neither says how much it may generate; `cost_overflow` past 64 bits.
 */
export const maxCostOf = (
  price: Price,
  inputTokens: number,
  maxOutputTokens?: number,
  options: CostOptions = {},
): bigint => {
  const input = tokens('inputTokens', inputTokens);
  const reachable = price.tiers.filter((tier) => tier.aboveInputTokens === 0n || input > tier.aboveInputTokens);
  let most = ZERO;
  for (const { rates } of reachable) {
    const free = rates.output.numerator === 0n;
    const output = free ? 0n : outputLimit(price, maxOutputTokens);
    const dearest = [rates.cacheRead, rates.cacheWrite].reduce<Rational>(
      (most, rate) => (rate === undefined ? most : larger(most, rate)),
      rates.input,
    );
    most = larger(most, add(times(dearest, input), times(rates.output, output)));
  }
  return settle(most, options);
};

const outputLimit = (price: Price, given: number | undefined): bigint => {
  if (given !== undefined) return tokens('maxOutputTokens', given);
  if (price.maxOutputTokens !== undefined) return price.maxOutputTokens;
  throw new PricingError('bad_usage', `maxOutputTokens: none given, and none is known for ${price.model}.`);
};
