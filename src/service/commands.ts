import { tenantOf } from '../../events/index.js';
import type { HoldPolicy, Level } from '../../events/index.js';
import { v7 as newId } from 'uuid';
import { NO_AMOUNTS } from '../core/command.js';
import type { Adjust, Extend, Finalize, OpenAccount, Recharge, Refund, Reserve, SetMaxCost } from '../core/command.js';
import { SYSTEM_TENANT } from '../../events/index.js';
import * as input from './input.js';
import type {
  AdjustInput,
  ExtendInput,
  FinalizeInput,
  OpenAccountInput,
  RechargeInput,
  RefundInput,
  ReserveInput,
  SetMaxCostInput,
} from './ledger.js';
import { InvalidInputError } from './ledger.js';

/** What an input leaves open, as configured. Times in seconds. */
export interface CommandDefaults {
  readonly ttlSeconds: number;
  readonly ttlMaxSeconds: number;
  readonly holdPolicy: HoldPolicy;
  /** The least level of every command; a request may only raise it. */
  readonly level: Level;
}

const DEFAULT_SCALE = 6;
const LEVEL_RANK: Readonly<Record<Level, number>> = { fast: 0, durable: 1, replicated: 2 };

/** The higher of two levels. */
export const higherLevel = (one: Level, other: Level): Level => (LEVEL_RANK[one] >= LEVEL_RANK[other] ? one : other);

/** The level that a request asks for; it may only raise the one that is configured. Raises InvalidInputError. */
export const levelOf = (asked: Level | undefined, defaults: CommandDefaults): Level =>
  higherLevel(defaults.level, input.checkLevel(asked ?? defaults.level));

const present = <K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };

/*
 * One function a command: checks the input, fills in what it leaves open. Each raises InvalidInputError.
 */

/** The command that opens an account; its tenant is the first part of its name. Raises InvalidInputError. */
export const openAccountOf = (given: OpenAccountInput): OpenAccount => ({
  kind: 'open_account',
  tenant: tenantOf(input.checkAccountName(given.account, 'id')),
  account: given.account,
  unit: input.checkUnit(given.unit),
  scale: input.checkScale(given.scale ?? DEFAULT_SCALE),
  overdraftLimit: input.checkAmount(given.overdraftLimit ?? 0n, 'overdraft_limit'),
  exempt: given.exempt ?? false,
  ...present('metadata', input.checkMetadata(given.metadata)),
  ...input.traceOf(given.traceparent),
});

/** The command that reserves; without amounts it needs a model. Raises InvalidInputError. */
export const reserveOf = (given: ReserveInput, defaults: CommandDefaults): Reserve => {
  const tenant = input.checkTenant(given.tenant);
  const requested = input.checkAmounts(given.amount ?? NO_AMOUNTS);
  if (requested.kind === 'none' && given.model === undefined)
    throw new InvalidInputError('amount', 'amount, amounts or model must be given');
  return {
    kind: 'reserve',
    tenant,
    id: input.checkId(given.id ?? newId()),
    accounts: input.checkAccounts(given.accounts ?? [tenant]),
    ...present('model', given.model === undefined ? undefined : input.checkId(given.model, 'model')),
    requested,
    policy: input.checkPolicy(given.policy ?? defaults.holdPolicy),
    ttlSeconds: input.checkTtl(given.ttlSeconds ?? defaults.ttlSeconds, defaults.ttlMaxSeconds),
    level: levelOf(given.level, defaults),
    ...present('metadata', input.checkMetadata(given.metadata)),
    ...input.traceOf(given.traceparent),
  };
};

/** The command that finalizes; it always says the real cost. Raises InvalidInputError. */
export const finalizeOf = (given: FinalizeInput): Finalize => {
  const cost = input.checkAmounts(given.amount);
  if (cost.kind === 'none') throw new InvalidInputError('amount', 'amount or amounts must be given');
  return {
    kind: 'finalize',
    tenant: input.checkTenant(given.tenant),
    id: input.checkId(given.id),
    cost,
    ...present('usage', input.checkUsage(given.usage)),
    ...present('accounts', given.accounts === undefined ? undefined : input.checkAccounts(given.accounts)),
    ...present('model', given.model === undefined ? undefined : input.checkId(given.model, 'model')),
    ...present('metadata', input.checkMetadata(given.metadata)),
    ...input.traceOf(given.traceparent),
  };
};

/** The command that refunds, for a reason that is one word. Raises InvalidInputError. */
export const refundOf = (given: RefundInput): Refund => ({
  kind: 'refund',
  tenant: input.checkTenant(given.tenant),
  id: input.checkId(given.id),
  reason: input.checkRefundReason(given.reason),
  ...input.traceOf(given.traceparent),
});

/** The command that extends, counted from now. Raises InvalidInputError. */
export const extendOf = (given: ExtendInput, defaults: CommandDefaults): Extend => ({
  kind: 'extend',
  tenant: input.checkTenant(given.tenant),
  id: input.checkId(given.id),
  ttlSeconds: input.checkTtl(given.ttlSeconds, defaults.ttlMaxSeconds),
  ...input.traceOf(given.traceparent),
});

/** The command that recharges, by more than 0. Raises InvalidInputError. */
export const rechargeOf = (given: RechargeInput): Recharge => ({
  kind: 'recharge',
  tenant: input.checkTenant(given.tenant),
  account: input.checkAccountName(given.account),
  id: input.checkId(given.id ?? newId()),
  amount: input.checkPositive(given.amount),
  ...present('reference', given.reference === undefined ? undefined : input.checkId(given.reference, 'reference')),
  ...present('metadata', input.checkMetadata(given.metadata)),
  ...input.traceOf(given.traceparent),
});

/** The command that adjusts, upward or downward. Raises InvalidInputError. */
export const adjustOf = (given: AdjustInput): Adjust => ({
  kind: 'adjust',
  tenant: input.checkTenant(given.tenant),
  account: input.checkAccountName(given.account),
  id: input.checkId(given.id ?? newId()),
  amount: input.checkSigned(given.amount),
  reason: input.checkAdjustReason(given.reason),
  ...present('metadata', input.checkMetadata(given.metadata)),
  ...input.traceOf(given.traceparent),
});

/** The command that sets a model's max_cost; it belongs to no tenant. Raises InvalidInputError. */
export const setMaxCostOf = (given: SetMaxCostInput): SetMaxCost => {
  input.checkAmounts({ kind: 'by_unit', amounts: given.amounts });
  return {
    kind: 'set_max_cost',
    tenant: SYSTEM_TENANT,
    model: input.checkId(given.model, 'model'),
    amounts: given.amounts,
    ...input.traceOf(given.traceparent),
  };
};
