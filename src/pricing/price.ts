import { PricingError } from './errors.js';
import { dividedBy, parseDecimal } from './rational.js';
import type { Rational } from './rational.js';

/** Dollars a token (or any currency's main unit), by kind of token. */
export interface Rates {
  readonly input: Rational;
  readonly output: Rational;
  /** Prompt tokens read from the provider's cache; absent: they cost as much as `input`. */
  readonly cacheRead?: Rational;
  /** Prompt tokens written to the provider's cache; absent: as `input`. */
  readonly cacheWrite?: Rational;
}

/** From this many prompt tokens on (exclusive), the whole request is charged at these rates. */
export interface Tier {
  readonly aboveInputTokens: bigint;
  readonly rates: Rates;
}

export interface Price {
  readonly model: string;
  /** Ordered by `aboveInputTokens`; the first has 0. */
  readonly tiers: readonly [Tier, ...Tier[]];
  readonly maxInputTokens?: bigint;
  readonly maxOutputTokens?: bigint;
}

/** Decimal strings, dollars a million tokens: "2.50". */
export interface PricePerMillion {
  readonly input: string;
  readonly output: string;
  readonly cacheRead?: string;
  readonly cacheWrite?: string;
}

const MILLION = 1_000_000n;

const perToken = (field: string, text: string): Rational => {
  const decimal = parseDecimal(text);
  if (decimal === undefined)
    throw new PricingError('bad_price', `${field}: "${text.slice(0, 80)}" is not a decimal price such as "2.50".`);
  return dividedBy(decimal, MILLION);
};

/**
 * A price from decimal strings per million tokens.
 * @throws PricingError `bad_price`, naming the member that is no price.
 */
export const pricePerMillion = (
  model: string,
  price: PricePerMillion,
  limits: Pick<Price, 'maxInputTokens' | 'maxOutputTokens'> = {},
): Price => {
  const rates: Rates = {
    input: perToken('input', price.input),
    output: perToken('output', price.output),
    ...(price.cacheRead === undefined ? {} : { cacheRead: perToken('cacheRead', price.cacheRead) }),
    ...(price.cacheWrite === undefined ? {} : { cacheWrite: perToken('cacheWrite', price.cacheWrite) }),
  };
  return { model, tiers: [{ aboveInputTokens: 0n, rates }], ...limits };
};

/** The rates of a request with so many prompt tokens (cached ones counted): those of the last tier that it passes. */
export const ratesFor = (price: Price, inputTokens: bigint): Rates => {
  let { rates } = price.tiers[0];
  for (const tier of price.tiers) if (inputTokens > tier.aboveInputTokens) ({ rates } = tier);
  return rates;
};
