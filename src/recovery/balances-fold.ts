import { EMPTY_BUCKETS, addPosting, genesisHash } from '../../events/index.js';
import type { LedgerEvent } from '../../events/index.js';
import { reservationKey } from '../core/state.js';
import type { DigestedAccount, OpenHold, PartitionState } from './digest.js';

/** An event with its place in the chain, decoded or not yet. */
export interface ChainedEvent {
  readonly position: number;
  readonly prevHash: string;
  readonly hash: string;
  readonly decoded: () => LedgerEvent;
}

/** A log does not follow on where it should: it was cut, forked, or lost an event. */
export class LogBrokenError extends Error {
  override readonly name = 'LogBrokenError';
  readonly code = 'log_broken';
  constructor(
    readonly partition: number,
    readonly position: number,
    why: string,
  ) {
    super(`Partition ${partition.toString()}, position ${position.toString()}: ${why} Run: holdfast verify`);
  }
}

/**
 * Balances and open holds of one partition, folded from its events. Postings are only added up. Memory grows with the accounts
 * and the open holds, not with the log.
 */
export class BalancesFold {
  private readonly accounts = new Map<string, DigestedAccount>();
  /** By reservationKey. */
  private readonly holds = new Map<string, OpenHold>();
  private hash: string;
  /** The last event that was folded; 0 before the first. */
  position = 0;

  constructor(
    ledger: string,
    private readonly partition: number,
  ) {
    this.hash = genesisHash(ledger, partition);
  }

  /**
   * Folds the next event; one that is folded already is passed over, and `false` is the answer. Raises LogBrokenError when it
   * does not follow on.
   */
  take({ position, prevHash, hash, decoded }: ChainedEvent): boolean {
    if (position <= this.position) return false;
    if (position !== this.position + 1)
      throw new LogBrokenError(this.partition, this.position + 1, 'the event is missing.');
    if (prevHash !== this.hash)
      throw new LogBrokenError(this.partition, position, 'the event does not follow the one before it: a fork.');
    this.fold(decoded());
    this.position = position;
    this.hash = hash;
    return true;
  }

  /** Where the fold stands now. */
  state(): PartitionState {
    return {
      head: { partition: this.partition, position: this.position, hash: this.hash },
      accounts: [...this.accounts.values()],
      holds: [...this.holds.values()],
    };
  }

  private fold(event: LedgerEvent): void {
    if (event.name === 'AccountOpened') {
      const { account, unit } = event.data;
      this.accounts.set(account, { account, unit, ...EMPTY_BUCKETS });
    }
    if (event.name === 'Reserved') {
      const amounts = event.data.postings.map(({ account, unit, held }) => ({ account, unit, amount: held }));
      const id = event.data.reservation_id;
      this.holds.set(reservationKey(event.tenant, id), { id, amounts });
    }
    if (event.name === 'Finalized' || event.name === 'Refunded')
      this.holds.delete(reservationKey(event.tenant, event.data.reservation_id));
    for (const posting of event.data.postings) {
      const account = this.accounts.get(posting.account);
      if (account === undefined)
        throw new LogBrokenError(this.partition, event.position, `it posts to ${posting.account}, which is not open.`);
      this.accounts.set(posting.account, { ...account, ...addPosting(account, posting) });
    }
  }
}
