import type { Buckets, Level, Metadata, UnitAmount } from '../../events/index.js';

/** An account as the journal holds it. Amounts in the unit's smallest part. */
export interface Account extends Buckets {
  readonly account: string;
  readonly tenant: string;
  readonly unit: string;
  readonly scale: number;
  readonly overdraftLimit: bigint;
  readonly exempt: boolean;
  readonly metadata?: Metadata;
  /** The position of the last event that touched it. */
  readonly position: number;
}

export type ReservationState = 'open' | 'finalized' | 'refunded';

/** What is known of a reservation's id. */
export interface Reservation {
  readonly tenant: string;
  readonly id: string;
  readonly state: ReservationState;
  /** False when a finalize came with no reservation before it. */
  readonly opened: boolean;
  /** Its accounts with their units, in the caller's order. */
  readonly accounts: readonly { readonly account: string; readonly unit: string }[];
  /** What was held for each unit; empty for a cold one. */
  readonly held: readonly UnitAmount[];
  readonly requested: readonly UnitAmount[];
  readonly model?: string;
  readonly ttlSeconds: number;
  readonly level: Level;
  /** Milliseconds since 1970 on Postgres's clock. */
  readonly expiresAtMs: number;
  /** Where it was opened (a cold one: where it was finalized). */
  readonly position: number;
  readonly closedPosition?: number;
  /** The real cost for each unit, once finalized. */
  readonly cost?: readonly UnitAmount[];
  readonly late?: boolean;
  /** The max_cost that its finalize raised, for each unit. */
  readonly raised?: readonly UnitAmount[];
  /** Why it was refunded. */
  readonly reason?: string;
  readonly metadata?: Metadata;
}

/** A recharge or an adjustment that was made: its id counts once, and so does a recharge's reference. */
export interface Funding {
  readonly tenant: string;
  readonly id: string;
  readonly kind: 'recharge' | 'adjust';
  readonly account: string;
  readonly amount: bigint;
  readonly reference?: string;
  readonly reason?: string;
  readonly position: number;
}

export interface MaxCost {
  readonly model: string;
  readonly unit: string;
  readonly amount: bigint;
  readonly revision: number;
  /** A higher cost that was charged and waits for an operator to allow it as the maximum. */
  readonly pending?: bigint;
}

/** The key of a reservation: its id is unique in its tenant. A tenant holds no `/`, so no two share a key. */
export const reservationKey = (tenant: string, id: string): string => `${tenant}/${id}`;
/** The key of a recharge or adjustment: ids of the two kinds are counted apart. */
export const fundingKey = (tenant: string, kind: Funding['kind'], id: string): string => `${tenant}/${kind}/${id}`;
/** The key of a payment reference, which counts once in its tenant. */
export const referenceKey = (tenant: string, reference: string): string => `${tenant}/${reference}`;
/** The key of a max_cost: one for each model and unit. Neither holds a blank. */
export const maxCostKey = (model: string, unit: string): string => `${model} ${unit}`;

/**
 * The part of the ledger that a run of commands touches, and nothing else: what is absent here does not exist there.
 * `evolve` changes it in place, since a group of commands is decided in sequence, each on what the one before left.
 */
export interface LedgerState {
  readonly accounts: Map<string, Account>;
  /** By reservationKey. */
  readonly reservations: Map<string, Reservation>;
  /** By fundingKey. */
  readonly fundings: Map<string, Funding>;
  /** Recharges by referenceKey. */
  readonly references: Map<string, Funding>;
  /** By maxCostKey. */
  readonly maxCosts: Map<string, MaxCost>;
}

/** A ledger in which nothing has happened. */
export const initialState = (): LedgerState => ({
  accounts: new Map(),
  reservations: new Map(),
  fundings: new Map(),
  references: new Map(),
  maxCosts: new Map(),
});
