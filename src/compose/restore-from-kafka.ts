import type { StoredEvent } from '../../events/index.js';
import type { DecodeBody, SealedReader } from '../core/ports.js';
import type { LogMessage } from '../kafka/index.js';
import type { Restoring } from '../journal/index.js';
import { PendingCosts } from './restore-pending.js';
import { LogWalk, RestoreRefusedError } from './restore-walk.js';
import type { WalkStart } from './restore-walk.js';

/** Reads partitions of the topic, each from its first record on, to what is the end now. */
export type ReadLog = (
  partitions: readonly number[],
  onMessages: (partition: number, messages: readonly LogMessage[]) => Promise<void>,
) => Promise<void>;

export interface FromKafkaParts {
  readonly ledger: string;
  readonly starts: readonly WalkStart[];
  readonly readLog: ReadLog;
  readonly reader: SealedReader;
  readonly decode: DecodeBody;
  readonly restoring: Restoring;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (step: 'checking' | 'restoring', done: number, total: number) => void;
}

/** How many events a partition lacks, or was given. */
export interface PartitionRestored {
  readonly partition: number;
  /** Where it stood before. */
  readonly from: number;
  readonly events: number;
}

export interface FromKafka {
  readonly partitions: readonly PartitionRestored[];
  /** The highest that any event bears. */
  readonly incarnation: number;
  readonly pending: ReturnType<PendingCosts['conclude']>;
}

/**
 * Fills the journal from Kafka's log. Reads the log twice: first to see that all of it follows on the journal, then to write it.
 * Goes on from the heads, so that what was cut is begun again by the same call. Memory does not grow with the log.
 * Raises RestoreRefusedError with nothing written when the log forks from the journal or has a gap; JournalMovedError when somebody
 * else writes meanwhile; KafkaError, StatementError, SessionLostError.
 */
export const restoreFromKafka = async (parts: FromKafkaParts): Promise<FromKafka> => {
  const checked = await check(parts);
  const partitions = checked.map(({ start, events }): PartitionRestored => {
    return { partition: start.partition, from: start.position, events };
  });
  const pending = new PendingCosts();
  if (!parts.dryRun) await write(parts, checked, pending);
  const incarnation = Math.max(1, ...checked.map((walk) => walk.incarnation));
  return { partitions, incarnation, pending: pending.conclude() };
};

const walksOf = (parts: FromKafkaParts): ReadonlyMap<number, LogWalk> =>
  new Map(parts.starts.map((start) => [start.partition, new LogWalk(start)]));

const check = async (parts: FromKafkaParts): Promise<readonly LogWalk[]> => {
  const walks = walksOf(parts);
  let done = 0;
  await parts.readLog([...walks.keys()], (partition, messages) => {
    walks.get(partition)?.take(messages);
    parts.onProgress('checking', (done += messages.length), 0);
    return Promise.resolve();
  });
  for (const walk of walks.values()) await refuse(parts, walk);
  return [...walks.values()];
};

/** Raises RestoreRefusedError when this partition of the log can't be what the journal goes on with. */
const refuse = async ({ reader }: FromKafkaParts, walk: LogWalk): Promise<void> => {
  const { start, known, forkedAt } = walk;
  const place = `Partition ${start.partition.toString()}`;
  const nothing = 'Nothing was written. Look at both logs: holdfast verify';
  if (known !== undefined) {
    const [stored] = await reader.readSealed(start.partition, known.position - 1, 1);
    if (stored?.hash !== known.hash)
      throw new RestoreRefusedError(
        `${place}: Kafka holds another event at position ${known.position.toString()} than the journal: a fork. ${nothing}`,
      );
  }
  if (forkedAt !== undefined && walk.position < walk.highest)
    throw new RestoreRefusedError(
      `${place}: the event at position ${forkedAt.toString()} on Kafka does not follow on position ${walk.position.toString()}: a fork. ${nothing}`,
    );
  if (walk.position < walk.highest)
    throw new RestoreRefusedError(
      `${place}: Kafka has position ${walk.highest.toString()}, and position ${(walk.position + 1).toString()} is missing there: a gap. ${nothing}`,
    );
};

const write = async (parts: FromKafkaParts, checked: readonly LogWalk[], pending: PendingCosts): Promise<void> => {
  const walks = walksOf(parts);
  const total = checked.reduce((sum, { events }) => sum + events, 0);
  let done = 0;
  await parts.readLog([...walks.keys()], async (partition, messages) => {
    for (const { body } of messages) if (PendingCosts.concerns(body)) pending.take(parts.decode(body));
    const next = walks.get(partition)?.take(messages) ?? [];
    if (next.length === 0) return;
    if (parts.signal.aborted) throw new RestoreRefusedError('Interrupted. Run it again: it goes on from here.');
    await parts.restoring.write(
      next.map(({ body, prevHash, hash }): StoredEvent => ({ event: parts.decode(body), body, prevHash, hash })),
    );
    parts.onProgress('restoring', (done += next.length), total);
  });
};
