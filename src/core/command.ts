import type { HoldPolicy, Level, Metadata, Usage } from '../../events/index.js';

/** Amounts as a caller gives them: one for all accounts (they must share a unit), one for each unit, or none. */
export type AmountsGiven =
  | { readonly kind: 'none' }
  | { readonly kind: 'sole'; readonly amount: bigint }
  | { readonly kind: 'by_unit'; readonly amounts: ReadonlyMap<string, bigint> };

export const NO_AMOUNTS: AmountsGiven = { kind: 'none' };

interface TenantCommand {
  readonly tenant: string;
  /** W3C trace context, kept in the event. */
  readonly traceparent?: string;
}

export interface OpenAccount extends TenantCommand {
  readonly kind: 'open_account';
  readonly account: string;
  readonly unit: string;
  readonly scale: number;
  readonly overdraftLimit: bigint;
  readonly exempt: boolean;
  readonly metadata?: Metadata;
}

export interface Reserve extends TenantCommand {
  readonly kind: 'reserve';
  readonly id: string;
  /** 1 to 8 accounts of the tenant, each once. */
  readonly accounts: readonly string[];
  readonly model?: string;
  readonly requested: AmountsGiven;
  readonly policy: HoldPolicy;
  readonly ttlSeconds: number;
  readonly level: Level;
  readonly metadata?: Metadata;
  /** What Redis took per unit, when it took anything: the journal then takes exactly that. */
  readonly settled?: ReadonlyMap<string, bigint>;
}

export interface Finalize extends TenantCommand {
  readonly kind: 'finalize';
  readonly id: string;
  readonly cost: AmountsGiven;
  readonly usage?: Usage;
  /** For a cold one: where to charge when no reservation of this id exists. */
  readonly accounts?: readonly string[];
  readonly model?: string;
  readonly metadata?: Metadata;
}

export interface Refund extends TenantCommand {
  readonly kind: 'refund';
  readonly id: string;
  readonly reason: string;
}

/** The sweeper's refund: happens only if the reservation is open and past its time on Postgres's clock. */
export interface Expire extends TenantCommand {
  readonly kind: 'expire';
  readonly id: string;
}

export interface Extend extends TenantCommand {
  readonly kind: 'extend';
  readonly id: string;
  readonly ttlSeconds: number;
}

export interface Recharge extends TenantCommand {
  readonly kind: 'recharge';
  readonly account: string;
  readonly id: string;
  readonly amount: bigint;
  readonly reference?: string;
  readonly metadata?: Metadata;
}

export interface Adjust extends TenantCommand {
  readonly kind: 'adjust';
  readonly account: string;
  readonly id: string;
  /** Signed; never 0. */
  readonly amount: bigint;
  readonly reason: string;
  readonly metadata?: Metadata;
}

/** An operator's word on a model. Its tenant is SYSTEM_TENANT and its partition 0. */
export interface SetMaxCost extends TenantCommand {
  readonly kind: 'set_max_cost';
  readonly model: string;
  readonly amounts: ReadonlyMap<string, bigint>;
}

export type Command = OpenAccount | Reserve | Finalize | Refund | Expire | Extend | Recharge | Adjust | SetMaxCost;
export type CommandKind = Command['kind'];
