import type { Buckets, StoredEvent } from '../../events/index.js';
import type { Account, Reservation } from './state.js';

/** A past moment: a position of the account's partition, or a time (ms since 1970). */
export type AsOf = { readonly position: number } | { readonly timeMs: number };

export interface AccountAt {
  readonly account: Account;
  /** The partition's position that this balance is as of. */
  readonly position: number;
  /** The time of that position's event, ms since 1970; for now, Postgres's clock. */
  readonly asOfMs: number;
}

export interface TrailPage {
  readonly order: 'oldest_first' | 'newest_first';
  /** Inclusive, ms since 1970. */
  readonly fromMs?: number;
  /** Exclusive, ms since 1970. */
  readonly toMs?: number;
  /** 1 to 1,000. */
  readonly limit: number;
  /** The position after which (in `order`) the page begins. */
  readonly after?: number;
}

export interface TrailEntry {
  readonly stored: StoredEvent;
  /** The account's buckets right after this event. */
  readonly balanceAfter: Buckets;
}

export interface TrailSlice {
  readonly entries: readonly TrailEntry[];
  /** The cursor of the next page; absent at the end. */
  readonly next?: number;
}

export interface ReservationHistory {
  readonly reservation: Reservation;
  readonly events: readonly StoredEvent[];
}
