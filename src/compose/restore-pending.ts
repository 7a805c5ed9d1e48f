import { wireType } from '../../events/index.js';
import type { LedgerEvent } from '../../events/index.js';
import type { PendingCost } from '../journal/index.js';
import { maxCostKey } from '../core/state.js';

const MAX_COST_SET = wireType('MaxCostSet');

interface Waiting {
  readonly model: string;
  readonly unit: string;
  /** When an operator last set it, ms since 1970. */
  setMs: number;
}

/**
 * Which costs wait for an operator. It depends on the order of events over all partitions, which a restore does not keep: so it is
 * worked out anew, by the events' times, from the few events that bear on it. Memory grows with the models.
 */
export class PendingCosts {
  readonly #waiting = new Map<string, Waiting>();
  readonly #finalized = new Map<string, Map<number, bigint>>();

  /** True of a body that may bear on it: for a look before it is decoded. */
  static concerns(body: string): boolean {
    return body.includes('"raise_pending":true') || body.includes(MAX_COST_SET);
  }

  take(event: LedgerEvent): void {
    if (event.name === 'MaxCostSet') {
      const { model, unit } = event.data;
      const one = this.#of(model, unit);
      one.setMs = Math.max(one.setMs, event.timeMs);
      const times = this.#finalized.get(maxCostKey(model, unit));
      for (const timeMs of times?.keys() ?? []) if (timeMs <= one.setMs) times?.delete(timeMs);
    }
    if (event.name !== 'Finalized' || !event.data.raise_pending) return;
    const { model, postings } = event.data;
    if (model === undefined) return;
    for (const { unit, used } of postings) {
      if (event.timeMs <= this.#of(model, unit).setMs) continue;
      const key = maxCostKey(model, unit);
      const times = this.#finalized.get(key) ?? new Map<number, bigint>();
      this.#finalized.set(key, times);
      if (used > (times.get(event.timeMs) ?? 0n)) times.set(event.timeMs, used);
    }
  }

  /** By model and unit: what waits if it is above the max_cost. */
  conclude(): readonly PendingCost[] {
    return [...this.#waiting].map(([key, { model, unit }]) => {
      const costs = [...(this.#finalized.get(key)?.values() ?? [])];
      const pending = costs.reduce<bigint | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined);
      return { model, unit, ...(pending === undefined ? {} : { pending }) };
    });
  }

  #of(model: string, unit: string): Waiting {
    const key = maxCostKey(model, unit);
    const one = this.#waiting.get(key) ?? { model, unit, setMs: -1 };
    this.#waiting.set(key, one);
    return one;
  }
}
