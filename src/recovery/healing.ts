import { compareBalances } from './compare-balances.js';
import type { BalanceDrift, CompareParts } from './compare-balances.js';
import { whatIsLacking } from './compare-population.js';
import type { PopulationParts } from './compare-population.js';

export interface HealingParts extends CompareParts {
  readonly snapshots: PopulationParts['snapshots'];
  readonly readiness: PopulationParts['readiness'];
  readonly partitions: number;
  /** Most accounts compared in one script and one snapshot. */
  readonly sampleSize: number;
  readonly rebuild: (partition: number, why: string) => Promise<unknown>;
  /** Brings the partition's copies of max_cost up to the journal's: what a crash kept from being spread. */
  readonly reconcileMaxCosts: (partition: number) => Promise<void>;
  /** Told of each partition that the pass comes to. */
  readonly onPartition: (partition: number) => Promise<void>;
  /** Told of every account found wrong. Must not raise. */
  readonly onDrift: (drift: BalanceDrift) => void;
  /** Told of a partition that lacks something wholly. Must not raise. */
  readonly onLacking: (partition: number, what: string) => void;
}

/**
 * The background pass that compares accounts, a sample at a time, and rebuilds what differs: a wrong balance does not
 * stay wrong. It walks the partitions in turn: first looks for what Redis lacks wholly, then compares the accounts that it has.
 */
export class HealingPass {
  private partition = 0;
  private cursor = '0';

  constructor(private readonly parts: HealingParts) {}

  /** Compares the next page of accounts, about 500. Returns how many accounts were compared and how many were wrong or lacking. Raises UnavailableError. */
  async next(): Promise<{ readonly compared: number; readonly drifted: number }> {
    const { partition } = this;
    if (this.cursor === '0') {
      await this.parts.reconcileMaxCosts(partition);
      await this.parts.onPartition(partition);
      const lacking = await whatIsLacking(this.parts, partition);
      if (lacking !== undefined) return this.makeWhole(partition, lacking);
    }
    const page = await this.parts.balances.accountNames(partition, this.cursor);
    this.advance(page?.cursor);
    const names = [...new Set(page?.names)];
    const found = { compared: 0, drifted: 0 };
    for (let at = 0; at < names.length; at += this.parts.sampleSize) {
      const comparison = await compareBalances(this.parts, partition, names.slice(at, at + this.parts.sampleSize));
      if (comparison.kind === 'put_off') break;
      found.compared += comparison.accounts;
      found.drifted += comparison.drifts.length;
      for (const drift of comparison.drifts) this.parts.onDrift(drift);
    }
    if (found.drifted > 0)
      await this.parts.rebuild(partition, `${found.drifted.toString()} accounts differ from the journal`);
    return found;
  }

  /** What is compared after that is whole again: the pass goes on with the next partition. */
  private async makeWhole(partition: number, lacking: string): Promise<{ compared: number; drifted: number }> {
    this.advance('0');
    this.parts.onLacking(partition, lacking);
    await this.parts.rebuild(partition, lacking);
    return { compared: 0, drifted: 1 };
  }

  private advance(cursor: string | undefined): void {
    this.cursor = cursor ?? '0';
    if (this.cursor === '0') this.partition = (this.partition + 1) % this.parts.partitions;
  }
}
