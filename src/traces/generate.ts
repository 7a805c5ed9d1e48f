import { seededRandom } from './random.js';
import type { Random } from './random.js';
import { TraceError } from './request.js';
import type { TraceRequest } from './request.js';

/** [share of requests, tokens]: so many requests have at most so many tokens. */
type Quantiles = readonly (readonly [number, number])[];

interface Workload {
  /** Its share among the requests. */
  readonly share: number;
  readonly input: Quantiles;
  readonly output: Quantiles;
}

/*
 * The 0, 5, 10, 25, 50, 75, 90, 95, 99 and 100 % quantiles of the Azure LLM inference traces of 2023 (Patel et al.,
 * "Splitwise", ISCA 2024): 19,366 requests of a conversation service and 8,819 of a coding service. Between two of
 * them a size is drawn evenly on a logarithmic scale: no bell curve fits (half of the conversations' answers crowd
 * around 400 tokens). Prompt and answer are drawn independently: in the traces they hardly depend on each other (the
 * correlation of their logarithms is 0.09 and 0.00).
 */
const SHARES = [0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1] as const;
const quantiles = (...tokens: readonly number[]): Quantiles => SHARES.map((share, i) => [share, tokens[i] ?? 0]);

const CONVERSATION: Workload = {
  share: 19_366 / 28_185,
  input: quantiles(2, 181, 207, 396, 1_020, 1_189, 2_734, 4_083, 4_142, 14_050),
  output: quantiles(7, 41, 54, 85, 129, 395, 424, 451, 601, 1_000),
};
const CODING: Workload = {
  share: 8_819 / 28_185,
  input: quantiles(3, 75, 147, 578, 1_469, 2_744, 5_186, 7_302, 7_436, 7_437),
  output: quantiles(6, 6, 7, 9, 13, 24, 55, 90, 249, 1_899),
};

/** Both services together: 28,185 requests in an hour. */
const MEAN_GAP_MS = 3_600_000 / 28_185;

const REQUESTS_MAX = 100_000_000;

const draw = (random: Random, sizes: Quantiles): number => {
  const share = random();
  const above = sizes.findIndex(([upTo]) => share < upTo);
  const [lowShare, low] = sizes[above - 1] ?? [0, 1];
  const [highShare, high] = sizes[above] ?? [1, 1];
  const part = (share - lowShare) / (highShare - lowShare);
  return Math.round(low * (high / low) ** part);
};

export interface GenerateOptions {
  /** How many requests. */
  readonly requests: number;
  /** The same seed gives the same trace. */
  readonly seed: number;
}

/**
 * A trace of its own making, sized like the published ones, at their mean rate (8 requests a second, Poisson arrivals).
 * @throws TraceError when the number of requests is no whole number from 1 to 100 million.
 */
export function* generateTrace({ requests, seed }: GenerateOptions): Generator<TraceRequest> {
  if (!Number.isInteger(requests) || requests < 1 || requests > REQUESTS_MAX)
    throw new TraceError(`A trace has 1 to ${REQUESTS_MAX} requests, not ${requests}.`);
  const random = seededRandom(seed);
  let offsetMs = 0;
  for (let i = 0; i < requests; i++) {
    const { input, output } = random() < CONVERSATION.share ? CONVERSATION : CODING;
    yield { offsetMs, inputTokens: draw(random, input), outputTokens: draw(random, output) };
    offsetMs -= Math.log(1 - random()) * MEAN_GAP_MS;
  }
}
