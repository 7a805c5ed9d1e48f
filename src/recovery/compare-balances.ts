import { BUCKETS, EMPTY_BUCKETS, addPosting } from '../../events/index.js';
import type { Buckets } from '../../events/index.js';
import type { Snapshot, SnapshotReader } from '../core/ports.js';
import type { BalanceSample, BalancesReader } from '../core/redis-ports.js';

/** Most events between Redis's checkpoint and the journal's head that a comparison takes back; further behind, it is put off. */
const BEHIND_MAX = 20_000;
const PAGE = 1000;

/** An account whose buckets in Redis are not what the journal says. Amounts in the unit's smallest part. */
export interface BalanceDrift {
  readonly partition: number;
  readonly account: string;
  /** What the journal says at Redis's checkpoint; absent: it has no such account. */
  readonly journal?: Buckets;
  /** What Redis says, speculations given back; absent: it has no such account. */
  readonly redis?: Buckets;
}

export type Comparison =
  | { readonly kind: 'compared'; readonly accounts: number; readonly drifts: readonly BalanceDrift[] }
  /** It can't be said now. */
  | { readonly kind: 'put_off'; readonly why: 'no_checkpoint' | 'too_far_behind' | 'ahead_of_journal' };

export interface CompareParts {
  readonly balances: BalancesReader;
  readonly snapshots: SnapshotReader;
}

/**
 * Compares accounts of one partition, beside live traffic: reads Redis first; then, in one snapshot of Postgres, the rows
 * less the postings after Redis's checkpoint. Redis's speculations are added back. Raises UnavailableError.
 */
export const compareBalances = async (
  { balances, snapshots }: CompareParts,
  partition: number,
  names: readonly string[],
): Promise<Comparison> => {
  const sample = await balances.sample(partition, names);
  if (sample === undefined) return { kind: 'put_off', why: 'no_checkpoint' };
  return snapshots.withSnapshot(partition, async (snapshot) => {
    if (sample.checkpoint.position > snapshot.head.position) return { kind: 'put_off', why: 'ahead_of_journal' };
    const journal = await rowsAt(snapshot, sample.checkpoint.position, names);
    if (journal === undefined) return { kind: 'put_off', why: 'too_far_behind' };
    const redis = withoutSpeculations(sample);
    const drifts = names.flatMap((account) => driftOf(partition, account, journal.get(account), redis.get(account)));
    return { kind: 'compared', accounts: names.length, drifts };
  });
};

/** The rows of these accounts as they were at `position`; undefined when that lies too far back. */
const rowsAt = async (
  snapshot: Snapshot,
  position: number,
  names: readonly string[],
): Promise<ReadonlyMap<string, Buckets> | undefined> => {
  if (snapshot.head.position - position > BEHIND_MAX) return undefined;
  const rows = new Map<string, Buckets>();
  for (const account of await snapshot.accountsNamed(names)) rows.set(account.account, bucketsOf(account));
  for (let after = position; after < snapshot.head.position;) {
    const page = await snapshot.events(after, PAGE);
    for (const { event } of page) {
      if (event.name === 'AccountOpened') rows.delete(event.data.account);
      for (const posting of event.data.postings) {
        const row = rows.get(posting.account);
        if (row !== undefined) rows.set(posting.account, addPosting(row, negative(posting)));
      }
      after = event.position;
    }
    if (page.length === 0) break;
  }
  return rows;
};

const bucketsOf = ({ available, held, used, funded }: Buckets): Buckets => ({ available, held, used, funded });

const negative = ({ available, held, used, funded }: Buckets): Buckets => ({
  available: -available,
  held: -held,
  used: -used,
  funded: -funded,
});

const withoutSpeculations = ({ accounts, speculations }: BalanceSample): ReadonlyMap<string, Buckets> => {
  const buckets = new Map<string, Buckets>(accounts);
  for (const { taken } of speculations)
    for (const [account, amount] of taken) {
      const of = buckets.get(account);
      if (of !== undefined)
        buckets.set(account, addPosting(of, { ...EMPTY_BUCKETS, available: amount, held: -amount }));
    }
  return buckets;
};

const driftOf = (
  partition: number,
  account: string,
  journal: Buckets | undefined,
  redis: Buckets | undefined,
): BalanceDrift[] => {
  if (journal === undefined && redis === undefined) return [];
  if (journal !== undefined && redis !== undefined && BUCKETS.every((bucket) => journal[bucket] === redis[bucket]))
    return [];
  return [
    {
      partition,
      account,
      ...(journal === undefined ? {} : { journal }),
      ...(redis === undefined ? {} : { redis }),
    },
  ];
};
