import { maxCostKey } from '../core/state.js';
import type { Account, MaxCost } from '../core/state.js';
import type { Decided } from './decided.js';
import type { Loaded } from './needs.js';
import { insertAccounts, updateAccounts } from './sql/accounts.js';
import { insertEvents, insertPostings } from './sql/events.js';
import { insertFundings } from './sql/fundings.js';
import { writeHeads } from './sql/heads.js';
import { updateMaxCosts } from './sql/max-costs.js';
import { insertReservations, updateReservations } from './sql/reservations.js';
import type { ReservationWrite } from './sql/reservations.js';
import type { Call } from './statement.js';

/** The rows of a map that are not what was loaded: `evolve` replaces what it changes, so identity tells. */
const changed = <T>(after: ReadonlyMap<string, T>, before: ReadonlyMap<string, T>): readonly [key: string, row: T][] =>
  [...after].filter(([key, row]) => before.get(key) !== row);

/** The max_costs that a decision changed: their rows must have been locked before they were read. */
export const changedMaxCosts = (decided: Decided, loaded: Loaded): readonly MaxCost[] =>
  changed(decided.state.maxCosts, loaded.state.maxCosts).map(([, maxCost]) => maxCost);

/** True when a max_cost is among those locked (by maxCostKey). */
export const isLocked = (locked: ReadonlySet<string>, { model, unit }: MaxCost): boolean =>
  locked.has(maxCostKey(model, unit));

/**
 * The statements that write a group: each table once, only final rows. Empty tables are left out.
 * `partitionOf` knows the partition of every tenant in the group.
 */
export const writesOf = (
  decided: Decided,
  loaded: Loaded,
  partitionOf: (tenant: string) => number,
): readonly Call<never>[] => {
  const calls: Call<never>[] = [insertEvents(decided.events)];
  const add = <T>(rows: readonly T[], write: (rows: readonly T[]) => Call<never>): void => {
    if (rows.length > 0) calls.push(write(rows));
  };
  add(decided.trail, insertPostings);
  const opened: (Account & { readonly partition: number })[] = [];
  const touched: Account[] = [];
  for (const [key, account] of changed(decided.state.accounts, loaded.state.accounts))
    if (loaded.state.accounts.has(key)) touched.push(account);
    else opened.push({ ...account, partition: partitionOf(account.tenant) });
  add(opened, insertAccounts);
  add(touched, updateAccounts);
  const { made, altered } = reservationsOf(decided, loaded, partitionOf);
  add(made, insertReservations);
  add(altered, updateReservations);
  add(
    changed(decided.state.fundings, loaded.state.fundings).map(([, funding]) => funding),
    insertFundings,
  );
  add(changedMaxCosts(decided, loaded), updateMaxCosts);
  add(decided.heads, writeHeads);
  return calls;
};

const reservationsOf = (
  decided: Decided,
  loaded: Loaded,
  partitionOf: (tenant: string) => number,
): { readonly made: readonly ReservationWrite[]; readonly altered: readonly ReservationWrite[] } => {
  const made: ReservationWrite[] = [];
  const altered: ReservationWrite[] = [];
  for (const [key, reservation] of changed(decided.state.reservations, loaded.state.reservations)) {
    const partition = partitionOf(reservation.tenant);
    const closedAtMs = reservation.state === 'open' ? undefined : decided.times.get(key);
    const row: ReservationWrite = {
      reservation,
      partition,
      positions: decided.positions.get(key) ?? [],
      ...(closedAtMs === undefined ? {} : { closedAtMs }),
    };
    (loaded.state.reservations.has(key) ? altered : made).push(row);
  }
  return { made, altered };
};
