import type { Head, JournalReader, SealedReader } from '../core/ports.js';
import type { SendFrom } from '../kafka/index.js';
import type { ReadLog } from './restore-from-kafka.js';
import type { PartitionRestored } from './restore-from-kafka.js';
import { LogWalk, RestoreRefusedError, beginning } from './restore-walk.js';

export interface ToKafkaParts {
  readonly ledger: string;
  readonly partitions: readonly number[];
  readonly readLog: ReadLog;
  /** The offset that the next record of each partition will get. */
  readonly ends: (partitions: readonly number[]) => Promise<ReadonlyMap<number, number>>;
  readonly reader: Pick<JournalReader, 'heads'> & SealedReader;
  readonly send: (wishes: readonly SendFrom[]) => Promise<void>;
  readonly dryRun: boolean;
  /** Told how many events the topic lacks, once known. */
  readonly onMissing: (events: number) => void;
}

/** How often the topic is looked at again: a relay beside this one may write between what is sent. */
const PASSES_MAX = 20;

/**
 * Sends from the journal what a consumer of the topic, who takes only what follows on, would not get; and looks at the topic again
 * until it has everything. Deletes nothing. Beside a relay the worst is duplicates.
 * Raises RestoreRefusedError when Kafka's log is ahead of the journal or forks from it; KafkaError, UnavailableError.
 */
export const restoreToKafka = async (parts: ToKafkaParts): Promise<readonly PartitionRestored[]> => {
  let open = [...parts.partitions];
  const restored = new Map<number, PartitionRestored>();
  for (let pass = 0; open.length > 0; pass++) {
    if (pass === PASSES_MAX)
      throw new RestoreRefusedError(
        `The topic was still not whole after ${PASSES_MAX.toString()} passes. Run it again.`,
      );
    // The end first: what is written behind it while the topic is read is seen by the next pass.
    const ends = await parts.ends(open);
    const walks = new Map(open.map((partition) => [partition, new LogWalk(beginning(parts.ledger, partition))]));
    await parts.readLog(open, (partition, messages) => {
      walks.get(partition)?.take(messages);
      return Promise.resolve();
    });
    const wishes: SendFrom[] = [];
    for (const head of await parts.reader.heads(open)) {
      const walk = walks.get(head.partition);
      if (walk === undefined) continue;
      await refuse(parts, walk, head);
      const { position, hash, incarnation } = walk;
      const { partition } = head;
      if (pass === 0) restored.set(partition, { partition, from: position, events: head.position - position });
      if (position < head.position)
        wishes.push({
          partition,
          position,
          hash,
          incarnation,
          endOffset: ends.get(partition) ?? 0,
          head: head.position,
        });
    }
    if (pass === 0) parts.onMissing([...restored.values()].reduce((sum, { events }) => sum + events, 0));
    if (parts.dryRun) break;
    await parts.send(wishes);
    open = wishes.map(({ partition }) => partition);
  }
  return [...restored.values()];
};

const refuse = async ({ reader }: ToKafkaParts, walk: LogWalk, head: Head): Promise<void> => {
  const { partition } = head;
  if (walk.position === 0) return;
  const [stored] = await reader.readSealed(partition, walk.position - 1, 1);
  if (stored?.hash === walk.hash) return;
  const place = `Partition ${partition.toString()}: Kafka holds`;
  throw new RestoreRefusedError(
    stored === undefined
      ? `${place} position ${walk.position.toString()}, and the journal ends before it. Nothing was sent. Run: holdfast restore --from kafka`
      : `${place} another event at position ${walk.position.toString()} than the journal: a fork. Nothing was sent. Look at both logs: holdfast verify`,
  );
};
