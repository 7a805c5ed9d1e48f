import { compareBalances } from './compare-balances.js';
import type { BalanceDrift, CompareParts } from './compare-balances.js';

export interface HealingParts extends CompareParts {
  readonly partitions: number;
  /** Most accounts compared in one pass. */
  readonly sampleSize: number;
  readonly rebuild: (partition: number, why: string) => Promise<void>;
  /** Told of every account found wrong. Must not raise. */
  readonly onDrift: (drift: BalanceDrift) => void;
}

/**
 * The background pass that compares accounts, a sample at a time, and rebuilds what differs: a wrong balance does not
 * stay wrong. It walks the partitions in turn, and within one the accounts that Redis has.
 */
export class HealingPass {
  private partition = 0;
  private cursor = '0';

  constructor(private readonly parts: HealingParts) {}

  /** Compares the next sample. Returns how many accounts were compared and how many were wrong. Raises UnavailableError. */
  async next(): Promise<{ readonly compared: number; readonly drifted: number }> {
    const { partition } = this;
    const page = await this.parts.balances.accountNames(partition, this.cursor);
    this.advance(page?.cursor);
    const names = [...new Set(page?.names)].slice(0, this.parts.sampleSize);
    if (names.length === 0) return { compared: 0, drifted: 0 };
    const comparison = await compareBalances(this.parts, partition, names);
    if (comparison.kind === 'put_off') return { compared: 0, drifted: 0 };
    for (const drift of comparison.drifts) this.parts.onDrift(drift);
    if (comparison.drifts.length > 0)
      await this.parts.rebuild(partition, `${comparison.drifts.length.toString()} accounts differ from the journal`);
    return { compared: comparison.accounts, drifted: comparison.drifts.length };
  }

  private advance(cursor: string | undefined): void {
    this.cursor = cursor ?? '0';
    if (this.cursor === '0') this.partition = (this.partition + 1) % this.parts.partitions;
  }
}
