import { Latencies } from './latencies.js';
import type { LatencySummary } from './latencies.js';

/** How a request ended: each ends in exactly one of these. */
export const OUTCOMES = [
  /** Reserved, run, and charged what it cost. */
  'finalized',
  /** Reserved, failed at its provider, and given back. */
  'refunded',
  /** Out of quota: 429. */
  'refused',
  /** The ledger said no for another reason; see `errors`. */
  'rejected',
  /** No definite answer, however often it was asked. */
  'unknown',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Amounts are in micro-units, as decimal strings. */
export interface TallySummary extends Readonly<Record<Outcome, number>> {
  readonly requests: number;
  readonly recharges: number;
  readonly retries: number;
  readonly used: string;
  readonly seconds: number;
  readonly requests_per_second: number;
  readonly reserve: LatencySummary;
  readonly finalize: LatencySummary;
  /** What was said to those rejected or unknown, and how often. */
  readonly errors: Readonly<Record<string, number>>;
}

const ERRORS_MAX = 20;

/** Counts a run. */
export class Tally {
  readonly reserve = new Latencies();
  readonly finalize = new Latencies();
  retries = 0;
  recharges = 0;
  /** What all finalized requests cost. */
  used = 0n;
  requests = 0;
  readonly #outcomes = new Map<Outcome, number>();
  readonly #errors = new Map<string, number>();
  readonly #startedMs = performance.now();

  end(outcome: Outcome): void {
    this.requests += 1;
    this.#outcomes.set(outcome, this.count(outcome) + 1);
  }

  count(outcome: Outcome): number {
    return this.#outcomes.get(outcome) ?? 0;
  }

  /** Notes why a request was rejected or its outcome stayed unknown. Only the first 20 different reasons are told apart. */
  error(why: string): void {
    const key = this.#errors.has(why) || this.#errors.size < ERRORS_MAX ? why : 'other';
    this.#errors.set(key, (this.#errors.get(key) ?? 0) + 1);
  }

  summary(): TallySummary {
    const seconds = (performance.now() - this.#startedMs) / 1_000;
    const counts = Object.fromEntries(OUTCOMES.map((o) => [o, this.count(o)])) as Record<Outcome, number>;
    return {
      requests: this.requests,
      ...counts,
      recharges: this.recharges,
      retries: this.retries,
      used: this.used.toString(),
      seconds,
      requests_per_second: this.requests / seconds,
      reserve: this.reserve.summary(),
      finalize: this.finalize.summary(),
      errors: Object.fromEntries(this.#errors),
    };
  }
}
