import { postingOf } from '../../../events/index.js';
import type { Reserved } from '../../../events/index.js';
import type { Reserve } from '../command.js';
import type { Rejection } from '../rejection.js';
import { maxCostKey, reservationKey } from '../state.js';
import type { Account, LedgerState, Reservation } from '../state.js';
import { describe, findAccounts, findOverflow, resolveUnits, sameAmounts, toUnitAmounts } from './amounts.js';
import type { Resolved } from './amounts.js';
import { reject } from './decision.js';
import type { Verdict } from './decision.js';

/**
 * A reserve: an id opens once; every account must have `available + overdraft ≥ amount`, or be exempt.
 * `nowMs` is Postgres's clock, read after the head's lock was taken.
 */
export const decideReserve = (state: LedgerState, command: Reserve, nowMs: number): Verdict => {
  const known = state.reservations.get(reservationKey(command.tenant, command.id));
  if (known !== undefined) return decideKnown(known, command);
  const accounts = findAccounts(state, command.tenant, command.accounts);
  if ('rejection' in accounts) return reject(accounts.rejection);
  const units = accounts.ok.map((a) => a.unit);
  const requested = resolveUnits(command.requested, units);
  if ('rejection' in requested) return reject(requested.rejection);
  const amounts = settleAmounts(state, command, requested.ok, units);
  if ('rejection' in amounts) return reject(amounts.rejection);
  const refusal = findShortage(accounts.ok, amounts.ok);
  if (refusal !== undefined) return reject(refusal);
  return grant(state, command, { accounts: accounts.ok, requested: requested.ok, amounts: amounts.ok, nowMs });
};

const decideKnown = (known: Reservation, command: Reserve): Verdict => {
  if (!known.opened) return reject({ code: 'reservation_closed', id: command.id }, known.position);
  const difference = differenceOf(known, command);
  if (difference !== undefined) return reject({ code: 'id_reused', id: command.id, ...difference }, known.position);
  return { kind: 'replay', position: known.position, answer: { kind: 'reservation', reservation: known } };
};

/** What a second reserve under a known id says otherwise than the first. Level and metadata are not compared: a retry may raise the one and renew the other. */
export const differenceOf = (known: Reservation, command: Reserve): { field: string; recorded: string } | undefined => {
  const names = known.accounts.map((a) => a.account);
  if (names.length !== command.accounts.length || !command.accounts.every((name) => names.includes(name)))
    return { field: 'accounts', recorded: names.join(', ') };
  if (known.model !== command.model) return { field: 'model', recorded: known.model ?? 'none' };
  const units = known.accounts.map((a) => a.unit);
  const requested = resolveUnits(command.requested, units);
  if ('rejection' in requested || !sameAmounts(known.requested, requested.ok))
    return { field: command.requested.kind === 'by_unit' ? 'amounts' : 'amount', recorded: describe(known.requested) };
  if (known.ttlSeconds !== command.ttlSeconds) return { field: 'ttl_seconds', recorded: known.ttlSeconds.toString() };
  return undefined;
};

/** The amount for each unit: what Redis took, or by policy the caller's, the model's max_cost, or the larger. */
const settleAmounts = (
  state: LedgerState,
  command: Reserve,
  requested: ReadonlyMap<string, bigint>,
  units: readonly string[],
): Resolved<ReadonlyMap<string, bigint>> => {
  const amounts = new Map<string, bigint>();
  for (const unit of new Set(units)) {
    const amount = command.settled?.get(unit) ?? settleUnit(state, command, requested.get(unit), unit);
    if (typeof amount !== 'bigint') return { rejection: amount };
    amounts.set(unit, amount);
  }
  return { ok: amounts };
};

const settleUnit = (
  state: LedgerState,
  { model, policy }: Reserve,
  asked: bigint | undefined,
  unit: string,
): bigint | Rejection => {
  if (policy === 'caller' && asked !== undefined) return asked;
  const known = model === undefined ? undefined : state.maxCosts.get(maxCostKey(model, unit))?.amount;
  if (known === undefined) {
    if (policy !== 'model' && asked !== undefined) return asked;
    return model === undefined ? { code: 'amount_missing', unit } : { code: 'max_cost_unknown', model, unit };
  }
  return policy === 'larger' && asked !== undefined && asked > known ? asked : known;
};

const findShortage = (accounts: readonly Account[], amounts: ReadonlyMap<string, bigint>): Rejection | undefined => {
  for (const { account, unit, available, overdraftLimit, exempt } of accounts) {
    const required = amounts.get(unit) ?? 0n;
    const spendable = available + overdraftLimit;
    if (!exempt && spendable < required)
      return { code: 'insufficient_quota', account, unit, available: spendable, required };
  }
  return undefined;
};

interface Grant {
  readonly accounts: readonly Account[];
  readonly requested: ReadonlyMap<string, bigint>;
  readonly amounts: ReadonlyMap<string, bigint>;
  readonly nowMs: number;
}

const grant = (state: LedgerState, command: Reserve, { accounts, requested, amounts, nowMs }: Grant): Verdict => {
  const postings = accounts.map((a) => postingOf.hold(a, amounts.get(a.unit) ?? 0n));
  const overflow = findOverflow(state, postings);
  if (overflow !== undefined) return reject(overflow);
  const [first] = accounts;
  if (first === undefined) throw new Error('A reserve names at least one account.');
  const data: Reserved = {
    reservation_id: command.id,
    account: first.account,
    unit: first.unit,
    amount: amounts.get(first.unit) ?? 0n,
    accounts: command.accounts,
    ...(command.model === undefined ? {} : { model: command.model }),
    requested: toUnitAmounts(requested),
    hold_policy: command.policy,
    ttl_seconds: command.ttlSeconds,
    expires_at: new Date(nowMs + command.ttlSeconds * 1000).toISOString(),
    level: command.level,
    ...(command.metadata === undefined ? {} : { metadata: command.metadata }),
    postings,
  };
  return {
    kind: 'write',
    drafts: [{ tenant: command.tenant, subject: first.account, payload: { name: 'Reserved', data } }],
    answer: () => ({ kind: 'reservation', reservation: reservationAfter(state, command.tenant, command.id) }),
  };
};

/** The reservation as the events just written left it. */
export const reservationAfter = (state: LedgerState, tenant: string, id: string): Reservation => {
  const reservation = state.reservations.get(reservationKey(tenant, id));
  if (reservation === undefined) throw new Error(`Reservation ${id} is missing after an event that touches it.`);
  return reservation;
};
