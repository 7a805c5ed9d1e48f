import type { Buckets } from '../../events/index.js';
import type { Checkpoint } from './ports.js';
import type { Account, Funding, MaxCost, Reservation } from './state.js';

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
  /** Every event in order, also those that stand behind the head. */
  events(size: number): AsyncIterable<readonly EventRow[]>;
  /** Given steps of accounts' trails; absent where there is none. */
  trail(keys: readonly { readonly account: string; readonly position: number }[]): Promise<readonly TrailRow[]>;
  accounts(size: number): AsyncIterable<readonly AuditedAccount[]>;
  openReservations(size: number): AsyncIterable<readonly Reservation[]>;
  /** Given reservations in whatever state, with the positions of their events; absent where there is no row. */
  reservations(ids: readonly ReservationId[]): Promise<readonly AuditedReservation[]>;
  /** Given fundings; absent where there is no row. */
  fundings(ids: readonly FundingId[]): Promise<readonly Funding[]>;
  /** Given events. */
  eventsAt(positions: readonly number[]): Promise<readonly EventRow[]>;
  /** How many rows the partition has. */
  rowCounts(): Promise<{ readonly reservations: number; readonly fundings: number }>;
  maxCosts(): Promise<readonly MaxCost[]>;
}

export interface ReservationId {
  readonly tenant: string;
  readonly id: string;
}

export type FundingId = Pick<Funding, 'tenant' | 'kind' | 'id'>;

/** A reservation's row, with the positions of its events. */
export interface AuditedReservation {
  readonly reservation: Reservation;
  readonly positions: readonly number[];
}

/** For verify. */
export interface JournalAudit {
  /** The ledger's id, which its chains begin with. */
  readonly ledger: string;
  /** Runs `fn` on one partition at one moment, beside live traffic. Raises UnavailableError when Postgres can't be asked. */
  withPartition<T>(partition: number, fn: (view: AuditView) => Promise<T>): Promise<T>;
}
