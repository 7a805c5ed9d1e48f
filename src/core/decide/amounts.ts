import { addPosting, inRange } from '../../../events/index.js';
import type { Bucket, Posting, UnitAmount } from '../../../events/index.js';
import { BUCKETS } from '../../../events/index.js';
import type { AmountsGiven } from '../command.js';
import type { Rejection } from '../rejection.js';
import type { Account, LedgerState } from '../state.js';

export type Resolved<T> = { readonly ok: T } | { readonly rejection: Rejection };

/** The accounts by their names, in the caller's order; the first that does not exist in the tenant is the rejection. */
export const findAccounts = (
  state: LedgerState,
  tenant: string,
  names: readonly string[],
): Resolved<readonly Account[]> => {
  const found: Account[] = [];
  for (const name of names) {
    const account = state.accounts.get(name);
    if (account?.tenant !== tenant) return { rejection: { code: 'account_not_found', account: name } };
    found.push(account);
  }
  return { ok: found };
};

/** Gives each amount its unit. One amount stands for all accounts only if they share a unit; no unit may be foreign to them. */
export const resolveUnits = (given: AmountsGiven, units: readonly string[]): Resolved<ReadonlyMap<string, bigint>> => {
  if (given.kind === 'none') return { ok: new Map() };
  const distinct = [...new Set(units)];
  if (given.kind === 'sole') {
    const [unit] = distinct;
    if (unit === undefined || distinct.length > 1) return { rejection: { code: 'unit_mismatch', units: distinct } };
    return { ok: new Map([[unit, given.amount]]) };
  }
  for (const unit of given.amounts.keys())
    if (!distinct.includes(unit)) return { rejection: { code: 'unit_unknown', unit } };
  return { ok: given.amounts };
};

/** Amounts as an event and a reservation hold them, in the order of the map. */
export const toUnitAmounts = (amounts: ReadonlyMap<string, bigint>): UnitAmount[] =>
  [...amounts].map(([unit, amount]) => ({ unit, amount }));

/** The amount of a unit; undefined when there is none. */
export const amountIn = (amounts: readonly UnitAmount[], unit: string): bigint | undefined =>
  amounts.find((a) => a.unit === unit)?.amount;

/** True when both say the same amount for the same units, in any order. */
export const sameAmounts = (recorded: readonly UnitAmount[], given: ReadonlyMap<string, bigint>): boolean =>
  recorded.length === given.size && recorded.every(({ unit, amount }) => given.get(unit) === amount);

/** Amounts in words, for a rejection that says what was recorded: `60 USD, 5 TOK`, or `none`. */
export const describe = (amounts: readonly UnitAmount[]): string =>
  amounts.map(({ unit, amount }) => `${amount.toString()} ${unit}`).join(', ') || 'none';

/**
 * The first bucket that would leave 64 bits. `available` + overdraft must stay inside too (Redis keeps that sum), and with
 * it what is held: a hold that could not go back would be held for ever.
 */
export const findOverflow = (state: LedgerState, postings: readonly Posting[]): Rejection | undefined => {
  for (const posting of postings) {
    const account = state.accounts.get(posting.account);
    if (account === undefined) continue;
    const after = addPosting(account, posting);
    // The posting itself too: to give back 2^63 is no 64-bit amount, wherever it would lead.
    const bad: Bucket | undefined = BUCKETS.find((bucket) => !inRange(after[bucket]) || !inRange(posting[bucket]));
    if (bad !== undefined) return { code: 'amount_overflow', account: posting.account, bucket: bad };
    if (!inRange(after.available + after.held + account.overdraftLimit))
      return { code: 'amount_overflow', account: posting.account, bucket: 'available' };
  }
  return undefined;
};
