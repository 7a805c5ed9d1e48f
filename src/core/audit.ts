import type { Buckets } from '../../events/index.js';
import type { Checkpoint } from './ports.js';
import type { Account, Reservation } from './state.js';

/** An event as its row holds it. */
export interface EventRow {
  readonly position: number;
  readonly hash: string;
  readonly body: string;
}

/** One step of an account's trail: its buckets right after an event. */
export interface TrailRow {
  readonly account: string;
  readonly position: number;
  readonly partition: number;
  readonly after: Buckets;
}

/** An account's row, with how many rows its trail has. */
export interface AuditedAccount {
  readonly account: Account;
  readonly trailRows: number;
}

/** One partition of the journal as its rows say, at one moment, in streams: nothing is worked out, so that it can be checked. */
export interface AuditView {
  readonly head: Checkpoint;
  /** Every event up to the head, in order. */
  events(size: number): AsyncIterable<readonly EventRow[]>;
  /** Given steps of accounts' trails; absent where there is none. */
  trail(keys: readonly { readonly account: string; readonly position: number }[]): Promise<readonly TrailRow[]>;
  accounts(size: number): AsyncIterable<readonly AuditedAccount[]>;
  openReservations(size: number): AsyncIterable<readonly Reservation[]>;
}

/** For verify. */
export interface JournalAudit {
  /** The ledger's id, which its chains begin with. */
  readonly ledger: string;
  /** Runs `fn` on one partition at one moment, beside live traffic. Raises UnavailableError when Postgres can't be asked. */
  withPartition<T>(partition: number, fn: (view: AuditView) => Promise<T>): Promise<T>;
}
