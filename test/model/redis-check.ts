/** Whether a partition in Redis says what the core's fold says. */
import { expect } from 'vitest';
import { sumOf } from '../../events/index.js';
import type { Buckets } from '../../events/index.js';
import { amountIn } from '../../src/core/decide/amounts.js';
import type { BalanceSample } from '../../src/core/ports.js';
import type { LedgerState, Reservation } from '../../src/core/state.js';
import { readRecord } from '../../src/redis/record.js';
import { PARTITION } from '../lua/harness.js';
import type { Harness } from '../lua/harness.js';

const bucketsOf = ({ available, held, used, funded }: Buckets): Buckets => ({ available, held, used, funded });

/** The fold at the checkpoint, less what speculations took. */
export const expectedBuckets = (
  state: LedgerState,
  speculations: BalanceSample['speculations'],
): Map<string, Buckets> => {
  const buckets = new Map([...state.accounts].map(([name, account]) => [name, bucketsOf(account)]));
  for (const { taken } of speculations)
    for (const [account, amount] of taken) {
      const before = buckets.get(account);
      if (before === undefined) throw new Error(`A speculation took from ${account}, which is not there.`);
      buckets.set(account, { ...before, available: before.available - amount, held: before.held + amount });
    }
  return buckets;
};

/** Redis keeps no metadata: it asks the journal about a reservation that has some. */
const withoutMetadata = (reservation: Reservation): Reservation => {
  const { metadata, ...rest } = reservation;
  return metadata === undefined ? reservation : rest;
};

/** The postings table of the design, told from the reservations and payments instead of the postings. */
export const expectFoldToBeRight = (state: LedgerState): void => {
  for (const [name, account] of state.accounts) {
    expect(sumOf(account), name).toBe(0n);
    let [held, used, paid] = [0n, 0n, 0n];
    for (const r of state.reservations.values()) {
      if (!r.accounts.some((place) => place.account === name)) continue;
      if (r.state === 'open') held += amountIn(r.held, account.unit) ?? 0n;
      if (r.state === 'finalized') used += amountIn(r.cost ?? [], account.unit) ?? 0n;
    }
    for (const f of state.fundings.values()) if (f.account === name) paid += f.amount;
    expect({ held: account.held, used: account.used, funded: account.funded }, name).toEqual({
      held,
      used,
      funded: -paid,
    });
  }
};

/** Compares all buckets, all records and all copies of max_cost with the fold at Redis's checkpoint. False: it has none. */
export const expectRedisToAgree = async (h: Pick<Harness, 'side' | 'log' | 'raw' | 'keys'>): Promise<boolean> => {
  const sample = await h.side.reader.sample(PARTITION, [...h.log.state.accounts.keys()]);
  if (sample === undefined) return false;
  const { position, hash } = sample.checkpoint;
  if (position > 0) expect(hash).toBe(h.log.events[position - 1]?.hash);
  const state = h.log.stateAt(position);
  expectFoldToBeRight(state);
  // A speculation is undone, or replaced by its event: with both, the amount is taken twice.
  for (const { tenant, id } of sample.speculations)
    expect(state.reservations.has(`${tenant}/${id}`), `a speculation of ${id} beside its event`).toBe(false);
  expect(sample.accounts).toEqual(expectedBuckets(state, sample.speculations));
  const records = Object.entries(await h.raw.hgetall(h.keys.holds)).map(([name, text]) => {
    const [tenant = '', id = ''] = name.split('/');
    return [name, withoutMetadata(readRecord(text, { tenant, id }).reservation)] as const;
  });
  const reservations = [...state.reservations].map(([name, r]) => [name, withoutMetadata(r)] as const);
  expect(new Map(records)).toEqual(new Map(reservations));
  const copies = Object.entries(await h.raw.hgetall(h.keys.models)).map(([field, text]) => {
    const [revision, amount] = text.split(' ');
    return [field.replace('=', ' '), `${revision ?? ''} ${amount ?? ''}`] as const;
  });
  const known = [...state.maxCosts].map(
    ([key, m]) => [key, `${m.revision.toString()} ${m.amount.toString()}`] as const,
  );
  expect(new Map(copies)).toEqual(new Map(known));
  return true;
};
