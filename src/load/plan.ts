import { costOf, maxCostOf } from '../pricing/index.js';
import type { PriceBook } from '../pricing/index.js';
import { pick, seededRandom } from '../traces/index.js';
import type { TraceRequest } from '../traces/index.js';
import type { Customer } from './customers.js';

/** A request with all that is known of it before it is played. Amounts in micro-dollars. */
export interface PlannedRequest {
  readonly id: string;
  readonly customer: Customer;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The most that it can cost: what is reserved. */
  readonly hold: bigint;
  /** What it will have cost. */
  readonly cost: bigint;
  /** True for one that fails at its provider. */
  readonly fails: boolean;
}

export interface PlanOptions {
  /** Request ids start with it: one that no earlier run had. */
  readonly run: string;
  readonly customers: readonly Customer[];
  readonly models: readonly string[];
  readonly prices: PriceBook;
  readonly seed: number;
  /** The share that fails, 0 to 1. */
  readonly failShare: number;
}

/** Busy customers are few: the share of requests of customer i of n falls with the root of i. */
const customerIndex = (random: number, count: number): number => Math.floor(random ** 2 * count);

/**
 * Gives each request of a trace a customer, a model and its money. The same trace, seed and customers give the same plan.
 * @throws PricingError when a model has no price.
 */
export async function* planRequests(
  trace: AsyncIterable<TraceRequest> | Iterable<TraceRequest>,
  options: PlanOptions,
): AsyncGenerator<PlannedRequest> {
  const random = seededRandom(options.seed);
  const prices = new Map(options.models.map((model) => [model, options.prices.priceOf(model)]));
  let number = 0;
  for await (const { inputTokens, outputTokens } of trace) {
    number += 1;
    const model = pick(random, options.models);
    const price = prices.get(model);
    const customer = options.customers[customerIndex(random(), options.customers.length)];
    if (price === undefined || customer === undefined) throw new Error('A plan needs customers and priced models.');
    // A trace may hold more than this model can generate; the request would have asked for as much.
    const maxOutput = Math.max(Number(price.maxOutputTokens ?? 0n), outputTokens);
    yield {
      id: `${options.run}-${number.toString()}`,
      customer,
      model,
      inputTokens,
      outputTokens,
      hold: maxCostOf(price, inputTokens, maxOutput),
      cost: costOf(price, { inputTokens, outputTokens }),
      fails: random() < options.failShare,
    };
  }
}
