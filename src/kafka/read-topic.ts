import { setTimeout as sleep } from 'node:timers/promises';
import { KafkaError } from './errors.js';
import type { Fetched, KafkaLink } from './link.js';
import { readRecord } from './message.js';
import type { LogMessage } from './message.js';

export interface TopicReading {
  readonly link: KafkaLink;
  readonly ledger: string;
  readonly partitions: readonly number[];
  /**
   * Given each partition's events in the order of the topic, repeated ones included: drop by position. The next of that broker are
   * fetched when it resolves, so memory stays flat; a rejection ends the reading.
   */
  readonly onMessages: (partition: number, messages: readonly LogMessage[]) => Promise<void>;
  /** Told of each record that is none of this ledger's, or damaged. */
  readonly onForeign?: (partition: number, offset: number, why: string) => void;
  /** Ends the reading with KafkaError `closed`. */
  readonly signal?: AbortSignal;
}

/** How many records were read of one partition. */
export interface PartitionRead {
  readonly partition: number;
  readonly events: number;
  readonly foreign: number;
}

/** Tries again after a broker was lost, when nothing could be read in between. */
const RETRIES_MAX = 6;
const RETRY_MS = 100;
const LIMITS = { maxWaitMs: 100, maxBytes: 4_194_304, maxBytesPerPartition: 1_048_576 } as const;

/** One partition that is being read, up to where it ended when the reading began. */
interface Reading {
  readonly partition: number;
  readonly end: number;
  next: number;
  events: number;
  foreign: number;
}

const take = async (topic: TopicReading, reading: Reading, fetched: Fetched): Promise<void> => {
  if (fetched.fault !== undefined) throw fetched.fault;
  const messages: LogMessage[] = [];
  for (const record of fetched.records) {
    if (record.offset >= reading.end) break;
    const read = readRecord(record, topic.ledger, reading.partition);
    if (read.kind === 'event') messages.push(read.message);
    else {
      reading.foreign++;
      topic.onForeign?.(reading.partition, record.offset, read.why);
    }
  }
  reading.next = Math.max(reading.next, fetched.nextOffset);
  reading.events += messages.length;
  if (messages.length > 0) await topic.onMessages(reading.partition, messages);
};

const givenUp = (topic: TopicReading): boolean => topic.signal?.aborted === true;

/** Reads what one broker leads, fetch after fetch. */
const readFrom = async (
  topic: TopicReading,
  node: string,
  readings: readonly Reading[],
  round: { readonly over: boolean },
): Promise<void> => {
  while (!round.over) {
    const open = new Map(readings.filter(({ next, end }) => next < end).map((one) => [one.partition, one]));
    if (open.size === 0) return;
    if (givenUp(topic)) throw new KafkaError('closed', 'Reading the topic was given up.');
    const from = new Map([...open].map(([partition, { next }]) => [partition, next]));
    for (const fetched of await topic.link.fetch(node, from, LIMITS)) {
      const reading = open.get(fetched.partition);
      if (reading !== undefined) await take(topic, reading, fetched);
    }
  }
};

const readAll = async (topic: TopicReading, readings: readonly Reading[]): Promise<void> => {
  const open = readings.filter(({ next, end }) => next < end);
  const leaders = await topic.link.leaders(open.map(({ partition }) => partition));
  const round = { over: false };
  const ends = await Promise.allSettled(
    [...leaders].map(async ([node, numbers]) => {
      const led = open.filter(({ partition }) => numbers.includes(partition));
      await readFrom(topic, node, led, round).catch((error: unknown) => {
        round.over = true;
        throw error;
      });
    }),
  );
  // All of them have ended before anything else is asked of these connections.
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
};

/**
 * Reads the whole topic, from its first record to what was its last when this began: for verify, replay and restore. Belongs to
 * no consumer group, leaves no trace. Must not run beside another fetch on the same link.
 * Raises KafkaError: `out_of_range` when the log is cut while it is read, `unreachable` when a broker stays away.
 */
export const readTopic = async (topic: TopicReading): Promise<PartitionRead[]> => {
  const { link, partitions } = topic;
  const [starts, ends] = [await link.offsets(partitions, 'earliest'), await link.offsets(partitions, 'latest')];
  const readings = partitions.map((partition): Reading => {
    return { partition, next: starts.get(partition) ?? 0, end: ends.get(partition) ?? 0, events: 0, foreign: 0 };
  });
  let retries = 0;
  for (;;) {
    const before = readings.map(({ next }) => next);
    try {
      await readAll(topic, readings);
      break;
    } catch (error) {
      if (before.some((next, at) => next !== readings[at]?.next)) retries = 0;
      const maySucceed = error instanceof KafkaError && error.code === 'unreachable' && retries < RETRIES_MAX;
      if (!maySucceed || givenUp(topic)) throw error;
      await sleep(RETRY_MS * 2 ** retries++);
    }
  }
  return readings.map(({ partition, events, foreign }) => ({ partition, events, foreign }));
};
