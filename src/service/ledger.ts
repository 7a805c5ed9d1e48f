import type { HoldPolicy, Level, Metadata, Usage } from '../../events/index.js';
import type { AmountsGiven } from '../core/command.js';
import type { AccountAt, AsOf, ReservationHistory, TrailPage, TrailSlice } from '../core/history.js';
import type { Rejection } from '../core/rejection.js';
import type { Account, Funding, MaxCost, Reservation } from '../core/state.js';

export type { AccountAt, AsOf, ReservationHistory, TrailEntry, TrailPage, TrailSlice } from '../core/history.js';

/**
 * What a ledger can do, the same in process and over HTTP. Every operation answers a Result: a rejection is a value.
 * Every operation raises UnavailableError when a service that it needs is away or full; then it is not known to have
 * happened, and the same id may be sent again. Bad arguments raise InvalidInputError, which names the field.
 */
export interface Ledger {
  openAccount(input: OpenAccountInput): Promise<Result<{ readonly account: Account }>>;
  account(tenant: string, account: string, at?: AsOf): Promise<Result<AccountAt>>;
  trail(tenant: string, account: string, page: TrailPage): Promise<Result<TrailSlice>>;
  recharge(input: RechargeInput): Promise<Result<FundingDone>>;
  adjust(input: AdjustInput): Promise<Result<FundingDone>>;
  reserve(input: ReserveInput): Promise<Result<ReservationDone>>;
  finalize(input: FinalizeInput): Promise<Result<ReservationDone>>;
  refund(input: RefundInput): Promise<Result<ReservationDone>>;
  extend(input: ExtendInput): Promise<Result<ReservationDone>>;
  reservation(tenant: string, id: string): Promise<Result<ReservationHistory>>;
  setMaxCost(input: SetMaxCostInput): Promise<Result<{ readonly maxCosts: readonly MaxCost[] }>>;
  /** A model's max_cost for each unit; empty when none is known. */
  maxCosts(model: string): Promise<readonly MaxCost[]>;
  /** Every model that has one, ordered by name. */
  models(): Promise<readonly MaxCost[]>;
}

export type Result<T> =
  | ({ readonly ok: true } & T & {
        /** True when this answers a command that had been carried out before. */ readonly replay: boolean;
      })
  | { readonly ok: false; readonly rejection: Rejection };

interface Traced {
  readonly traceparent?: string;
}

export interface OpenAccountInput extends Traced {
  readonly account: string;
  readonly unit: string;
  /** Decimal places of the smallest part. Default 6. */
  readonly scale?: number;
  readonly overdraftLimit?: bigint;
  readonly exempt?: boolean;
  readonly metadata?: Metadata;
}

export interface RechargeInput extends Traced {
  readonly tenant: string;
  readonly account: string;
  /** Made by the ledger when absent. */
  readonly id?: string;
  readonly amount: bigint;
  readonly reference?: string;
  readonly metadata?: Metadata;
}

export interface AdjustInput extends Traced {
  readonly tenant: string;
  readonly account: string;
  readonly id?: string;
  readonly amount: bigint;
  readonly reason: string;
  readonly metadata?: Metadata;
}

export interface ReserveInput extends Traced {
  readonly tenant: string;
  readonly id?: string;
  /** Default: the tenant's wallet, which bears the tenant's name. */
  readonly accounts?: readonly string[];
  readonly model?: string;
  readonly amount?: AmountsGiven;
  readonly policy?: HoldPolicy;
  readonly ttlSeconds?: number;
  readonly level?: Level;
  readonly metadata?: Metadata;
}

export interface FinalizeInput extends Traced {
  readonly tenant: string;
  readonly id: string;
  readonly amount: AmountsGiven;
  readonly usage?: Usage;
  readonly accounts?: readonly string[];
  readonly model?: string;
  /** Default: the reservation's. A request may only raise it. */
  readonly level?: Level;
  readonly metadata?: Metadata;
}

export interface RefundInput extends Traced {
  readonly tenant: string;
  readonly id: string;
  readonly reason: string;
}

export interface ExtendInput extends Traced {
  readonly tenant: string;
  readonly id: string;
  readonly ttlSeconds: number;
}

export interface SetMaxCostInput extends Traced {
  readonly model: string;
  readonly amounts: ReadonlyMap<string, bigint>;
}

export interface ReservationDone {
  readonly reservation: Reservation;
  /** Where its event stands. */
  readonly position: number;
}

export interface FundingDone {
  readonly funding: Funding;
  readonly account: Account;
}

/** Bad input, found before anything was tried. `field` is the name of the member in the interface's own spelling (snake_case). */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError';
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}
