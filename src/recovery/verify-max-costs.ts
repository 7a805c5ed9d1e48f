import type { DataOf, LedgerEvent } from '../../events/index.js';
import { maxCostKey } from '../core/state.js';
import type { MaxCost } from '../core/state.js';

/**
 * Holds the rows of max_cost to the events of all partitions, beside live traffic: what stood in the rows before the walk must be
 * in the events, and what is in the events must be in the rows afterwards. Each revision is one event's. Memory grows
 * with the models.
 */
export class MaxCostWalk {
  private readonly before: ReadonlyMap<string, MaxCost>;
  /** By maxCostKey: the amount of the revision that the row had before. */
  private readonly seen = new Map<string, bigint>();
  private readonly latest = new Map<
    string,
    { readonly revision: number; readonly amount: bigint; readonly at: string }
  >();
  /** Costs that were to wait for an operator. */
  private readonly waiting = new Set<string>();

  constructor(before: readonly MaxCost[]) {
    this.before = new Map(before.map((row) => [maxCostKey(row.model, row.unit), row]));
  }

  /** Takes an event of any partition, in whatever order of partitions. */
  take(event: LedgerEvent): void {
    if (event.name === 'MaxCostRaised' || event.name === 'MaxCostSet') this.note(event, event.data);
    if (event.name !== 'Finalized' || !event.data.raise_pending) return;
    const { model } = event.data;
    for (const { unit, used } of event.data.postings)
      if (model !== undefined && this.before.get(maxCostKey(model, unit))?.pending === used)
        this.waiting.add(maxCostKey(model, unit));
  }

  /** What is wrong with the rows, in words. `after` was read when the walk was over. */
  conclude(after: readonly MaxCost[]): readonly string[] {
    const rows = new Map(after.map((row) => [maxCostKey(row.model, row.unit), row]));
    const wrong: string[] = [];
    for (const [key, row] of this.before) {
      const amount = this.seen.get(key);
      const what = `max_cost ${key}, revision ${row.revision.toString()}`;
      if (amount === undefined) wrong.push(`${what}: no event has set it`);
      else if (amount !== row.amount)
        wrong.push(`${what}: it is ${row.amount.toString()}, its event says ${amount.toString()}`);
      if (row.pending !== undefined && !this.waiting.has(key))
        wrong.push(`${what}: ${row.pending.toString()} waits, and no finalize has cost that`);
    }
    for (const [key, { revision, amount, at }] of this.latest) {
      const row = rows.get(key);
      if (row === undefined || row.revision < revision)
        wrong.push(`max_cost ${key}: the event at ${at} sets revision ${revision.toString()}, its row has ${row?.revision.toString() ?? 'none'}`); // prettier-ignore
      else if (row.revision === revision && row.amount !== amount && this.before.get(key)?.revision !== revision)
        wrong.push(`max_cost ${key}: it is ${row.amount.toString()}, the event at ${at} says ${amount.toString()}`);
    }
    return wrong;
  }

  private note(event: LedgerEvent, { model, unit, revision, amount }: DataOf<'MaxCostRaised' | 'MaxCostSet'>): void {
    const key = maxCostKey(model, unit);
    if (this.before.get(key)?.revision === revision) this.seen.set(key, amount);
    const latest = this.latest.get(key);
    const at = `${event.partition.toString()}/${event.position.toString()}`;
    if (latest === undefined || latest.revision < revision) this.latest.set(key, { revision, amount, at });
  }
}
