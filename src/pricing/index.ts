/** What a request costs, from its tokens and a price list; exact to the unit. */
export { PricingError, type PricingErrorCode } from './errors.js';
export { costOf, maxCostOf, type CostOptions, type TokenUsage } from './cost.js';
export { builtInPrices, loadPrices, readPrices, type PriceBook } from './litellm.js';
export { pricePerMillion, type Price, type PricePerMillion, type Rates, type Tier } from './price.js';
export { ROUNDINGS, type Rational, type Rounding } from './rational.js';
