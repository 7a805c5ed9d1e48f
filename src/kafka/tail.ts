import type { Checkpoint, Witness } from '../core/ports.js';
import { KafkaError } from './errors.js';
import type { Fetched, KafkaLink } from './link.js';
import { readRecord } from './message.js';
import type { LogMessage } from './message.js';

/** The end of one partition on Kafka. */
export interface Tail {
  readonly partition: number;
  /** The last event of this ledger; undefined when the partition holds none. */
  readonly last: LogMessage | undefined;
  /** The offset that the next record will get. */
  readonly endOffset: number;
  /** Records behind `last` that are none of ours. */
  readonly foreign: number;
}

/** Records in the first step back, and in the longest: foreign records behind the last event should be rare. */
const FIRST_STEP = 1;
const LONGEST_STEP = 4_096;
const LIMITS = { maxWaitMs: 50, maxBytes: 8_388_608, maxBytesPerPartition: 1_048_576 } as const;
/** Answers in a row that bring nothing of offsets that exist, before that counts as a fault. */
const EMPTY_ANSWERS_MAX = 200;

/** The search in one partition: backward in steps that grow, each step read forward. */
class TailSearch {
  #stepFrom: number;
  #stepTo: number;
  #step = FIRST_STEP;
  #next: number;
  #seen: LogMessage | undefined;
  #foreignInStep = 0;
  #foreign = 0;
  #done: boolean;

  constructor(
    private readonly ledger: string,
    readonly partition: number,
    private readonly start: number,
    private readonly end: number,
    before: number,
  ) {
    this.#stepTo = Math.min(end, before);
    this.#stepFrom = Math.max(start, this.#stepTo - this.#step);
    this.#next = this.#stepFrom;
    this.#done = this.#stepTo <= start;
  }

  get done(): boolean {
    return this.#done;
  }

  get next(): number {
    return this.#next;
  }

  get tail(): Tail {
    return { partition: this.partition, last: this.#seen, endOffset: this.end, foreign: this.#foreign };
  }

  /** Takes what was fetched at `next`. */
  take({ records, nextOffset }: Fetched): void {
    for (const record of records) {
      if (record.offset >= this.#stepTo) break;
      const read = readRecord(record, this.ledger, this.partition);
      if (read.kind === 'foreign') this.#foreignInStep++;
      else {
        this.#seen = read.message;
        this.#foreignInStep = 0;
      }
    }
    this.#next = Math.max(this.#next, nextOffset);
    if (this.#next >= this.#stepTo) this.#endStep();
  }

  #endStep(): void {
    this.#foreign += this.#foreignInStep;
    this.#foreignInStep = 0;
    this.#stepTo = this.#stepFrom;
    this.#done = this.#seen !== undefined || this.#stepTo <= this.start;
    this.#step = Math.min(this.#step * 8, LONGEST_STEP);
    this.#stepFrom = Math.max(this.start, this.#stepTo - this.#step);
    this.#next = this.#stepFrom;
  }
}

const search = async (link: KafkaLink, searches: readonly TailSearch[]): Promise<void> => {
  let empty = 0;
  for (;;) {
    const open = new Map(searches.filter(({ done }) => !done).map((one) => [one.partition, one]));
    if (open.size === 0) return;
    const leaders = await link.leaders([...open.keys()]);
    const answers = await Promise.all(
      [...leaders].map(([node, partitions]) =>
        link.fetch(node, new Map(partitions.map((p) => [p, open.get(p)?.next ?? 0])), LIMITS),
      ),
    );
    let read = 0;
    for (const fetched of answers.flat()) {
      if (fetched.fault !== undefined) throw fetched.fault;
      open.get(fetched.partition)?.take(fetched);
      read += fetched.records.length;
    }
    empty = read === 0 ? empty + 1 : 0;
    if (empty > EMPTY_ANSWERS_MAX) throw new KafkaError('unreachable', 'Kafka: the end of the log can’t be read.');
  }
};

/**
 * The last event of this ledger that Kafka holds of each partition, whatever else stands behind it. With `before`, the last one
 * before that offset. Must not run beside another fetch on the same link. Raises KafkaError.
 */
export const readTails = async (
  link: KafkaLink,
  ledger: string,
  partitions: readonly number[],
  before: ReadonlyMap<number, number> = new Map(),
): Promise<Map<number, Tail>> => {
  const [starts, ends] = [await link.offsets(partitions, 'earliest'), await link.offsets(partitions, 'latest')];
  const searches = partitions.map((partition) => {
    const end = ends.get(partition) ?? 0;
    return new TailSearch(ledger, partition, starts.get(partition) ?? 0, end, before.get(partition) ?? end);
  });
  await search(link, searches);
  return new Map(searches.map((one) => [one.partition, one.tail]));
};

/** The last events as checkpoints; a partition that has none is left out. */
export const lastEvents = (tails: ReadonlyMap<number, Tail>): Checkpoint[] =>
  [...tails.values()].flatMap(({ partition, last }) =>
    last === undefined ? [] : [{ partition, position: last.position, hash: last.hash, incarnation: last.incarnation }],
  );

/** Kafka's log as a witness: `make` opens a link, which is closed after each look. */
export const kafkaWitness = (make: () => KafkaLink, ledger: string, partitions: readonly number[]): Witness => ({
  name: 'Kafka',
  outlivesResume: true,
  async tails() {
    const link = make();
    try {
      return lastEvents(await readTails(link, ledger, partitions));
    } finally {
      await link.close();
    }
  },
});
