import { build } from 'hdr-histogram-js';
import type { Histogram } from 'hdr-histogram-js';

/** What a run's users felt, in milliseconds. */
export interface LatencySummary {
  readonly count: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly max_ms: number;
}

const US_MAX = 600_000_000;

/** Times from 1 µs to 10 minutes, to three digits, in memory that does not grow with their number. */
export class Latencies {
  readonly #histogram: Histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: US_MAX,
    numberOfSignificantValueDigits: 3,
  });

  /** Milliseconds, with their fraction. What lies outside the range counts as its end. */
  record(ms: number): void {
    this.#histogram.recordValue(Math.min(Math.max(Math.round(ms * 1_000), 1), US_MAX));
  }

  /** All 0 when nothing was recorded. */
  summary(): LatencySummary {
    const at = (percentile: number): number => this.#histogram.getValueAtPercentile(percentile) / 1_000;
    const count = this.#histogram.totalCount;
    return { count, p50_ms: at(50), p99_ms: at(99), max_ms: count === 0 ? 0 : this.#histogram.maxValue / 1_000 };
  }
}
