import { setTimeout as sleep } from 'node:timers/promises';
import { EMPTY_BUCKETS, addPosting } from '../../events/index.js';
import type { DecodeBody, Checkpoint, SnapshotReader } from '../core/ports.js';
import type { BalanceSample, BalancesReader } from '../core/redis-ports.js';
import { BalancesFold } from './balances-fold.js';
import { openHoldOf } from './digest.js';
import type { DigestedAccount, OpenHold, PartitionState } from './digest.js';

/** Rows, events, accounts in one step. */
const PAGE = 1000;
const SAMPLE = 500;
/** Tries to read Redis between two moves of its checkpoint. */
const TRIES = 40;
const PAUSE_MS = 50;

/** A position at which the source does not stand, or can't be read. */
export class DigestError extends Error {
  override readonly name = 'DigestError';
  constructor(
    readonly code: 'position_not_reached' | 'position_not_kept' | 'no_checkpoint' | 'checkpoint_moves',
    readonly partition: number,
    why: string,
  ) {
    super(`Partition ${partition.toString()}: ${why}`);
  }
}

const notReached = (source: string, partition: number, position: number, at: number): DigestError =>
  new DigestError(
    'position_not_reached',
    partition,
    `${source} ends at position ${position.toString()}, before ${at.toString()}.`,
  );

/**
 * From Postgres: the rows at the head, in one snapshot; at an earlier position, the events up to it. Raises UnavailableError,
 * DigestError `position_not_reached`, LogBrokenError.
 */
export const stateInPostgres = (
  snapshots: SnapshotReader,
  ledger: string,
  partition: number,
  at?: number,
): Promise<PartitionState> =>
  snapshots.withSnapshot(partition, async (snapshot) => {
    const { head } = snapshot;
    if (at !== undefined && at > head.position) throw notReached('the journal', partition, head.position, at);
    if (at !== undefined && at < head.position) {
      const fold = new BalancesFold(ledger, partition);
      while (fold.position < at) {
        const page = await snapshot.events(fold.position, Math.min(PAGE, at - fold.position));
        if (page.length === 0) throw notReached('the log in Postgres', partition, fold.position, at);
        for (const { event, prevHash, hash } of page)
          fold.take({ position: event.position, prevHash, hash, decoded: () => event });
      }
      return fold.state();
    }
    const accounts: DigestedAccount[] = [];
    for await (const rows of snapshot.accounts(PAGE))
      for (const { account, unit, available, held, used, funded } of rows)
        accounts.push({ account, unit, available, held, used, funded });
    const holds: OpenHold[] = [];
    for await (const rows of snapshot.openReservations(PAGE)) holds.push(...rows.map(openHoldOf));
    return { head, accounts, holds };
  });

/** Gives a partition's messages as the topic has them, repeated ones included. */
export type ReadPartition = (
  partition: number,
  onMessages: (
    messages: readonly {
      readonly position: number;
      readonly prevHash: string;
      readonly hash: string;
      readonly body: string;
    }[],
  ) => void,
) => Promise<void>;

/**
 * From Kafka: the fold of the topic up to its end, or up to `at`. Only what follows on is taken. Raises KafkaError, DigestError
 * `position_not_reached`, LogBrokenError.
 */
export const stateInKafka = async (
  readPartition: ReadPartition,
  decode: DecodeBody,
  ledger: string,
  partition: number,
  at = Number.MAX_SAFE_INTEGER,
): Promise<PartitionState> => {
  const fold = new BalancesFold(ledger, partition);
  await readPartition(partition, (messages) => {
    for (const { body, ...link } of messages)
      if (fold.position < at) fold.take({ ...link, decoded: () => decode(body) });
  });
  if (at !== Number.MAX_SAFE_INTEGER && fold.position < at) throw notReached('Kafka', partition, fold.position, at);
  return fold.state();
};

/**
 * From Redis: accounts less speculations, and the records that are open, at its checkpoint. Read in pages, and again when the
 * checkpoint has moved meanwhile, for some seconds. Raises DigestError.
 */
export const stateInRedis = async (
  balances: BalancesReader,
  partition: number,
  at?: number,
): Promise<PartitionState> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const read = await readRedis(balances, partition);
    if (read === 'none')
      throw new DigestError('no_checkpoint', partition, 'Redis has no checkpoint. Run: holdfast doctor');
    if (read !== 'moved') {
      if (at !== undefined && read.head.position !== at)
        throw new DigestError(
          'position_not_kept',
          partition,
          `Redis stands at position ${read.head.position.toString()}, and keeps no other.`,
        );
      return read;
    }
    await sleep(PAUSE_MS);
  }
  throw new DigestError(
    'checkpoint_moves',
    partition,
    'Redis moves on faster than it can be read; try again when there is less traffic, or take another source.',
  );
};

const readRedis = async (balances: BalancesReader, partition: number): Promise<PartitionState | 'none' | 'moved'> => {
  const first = await balances.sample(partition, []);
  if (first === undefined) return 'none';
  const names = new Set<string>();
  for (let cursor = '0'; ;) {
    const page = await balances.accountNames(partition, cursor);
    if (page === undefined) return 'moved';
    for (const name of page.names) names.add(name);
    if (page.cursor === '0') break;
    ({ cursor } = page);
  }
  const accounts: DigestedAccount[] = [];
  const all = [...names];
  for (let from = 0; from < all.length; from += SAMPLE) {
    const sample = await balances.sample(partition, all.slice(from, from + SAMPLE));
    if (sample === undefined || !same(sample.checkpoint, first.checkpoint)) return 'moved';
    accounts.push(...withoutSpeculations(sample));
  }
  const holds = new Map<string, OpenHold>();
  for (let cursor = '0'; ;) {
    const page = await balances.records(partition, cursor);
    if (page === undefined || !same(page.checkpoint, first.checkpoint)) return 'moved';
    for (const { name, reservation } of page.records)
      if (reservation?.state === 'open') holds.set(name, openHoldOf(reservation));
    if (page.cursor === '0') break;
    ({ cursor } = page);
  }
  return { head: first.checkpoint, accounts, holds: [...holds.values()] };
};

const same = (a: Checkpoint, b: Checkpoint): boolean =>
  a.position === b.position && a.hash === b.hash && a.incarnation === b.incarnation;

/** The accounts of a sample as they would stand if no speculation were under way. */
const withoutSpeculations = ({ accounts, units, speculations }: BalanceSample): DigestedAccount[] => {
  const found = new Map<string, DigestedAccount>();
  for (const [account, row] of accounts) found.set(account, { account, unit: units.get(account) ?? '', ...row });
  for (const { taken } of speculations)
    for (const [account, amount] of taken) {
      const row = found.get(account);
      if (row === undefined) continue;
      const back = { ...EMPTY_BUCKETS, available: amount, held: -amount };
      found.set(account, { ...row, ...addPosting(row, back) });
    }
  return [...found.values()];
};
