import type { CheckpointTopic } from '../core/checkpoints.js';
import type { KafkaLog, KafkaSettings } from './client.js';
import { KafkaError } from './errors.js';
import { KafkaLink } from './link.js';
import type { KafkaRecord } from './link.js';
import { ensureTopic } from './topic.js';

/** The topic of checkpoints, beside that of the log. */
export const checkpointTopicName = (topic: string): string => `${topic}.checkpoints`;

const PARTITION = 0;
/** How far back the newest checkpoint is looked for: records of others should be rare. */
const RECORDS_BACK = [1, 64, 4_096] as const;
const LIMITS = { maxWaitMs: 100, maxBytes: 4_194_304, maxBytesPerPartition: 4_194_304 } as const;
/** Answers in a row that bring nothing of offsets that exist, before that counts as a fault. */
const EMPTY_ANSWERS_MAX = 200;

export interface CheckpointTopicParts {
  /** Those of the log; the topic's name is worked out from its. */
  readonly settings: KafkaSettings;
  readonly replicationFactor: number;
  readonly log: KafkaLog;
}

/** Checkpoints on Kafka: one partition, nothing that expires, made and checked like the log's topic. */
export class KafkaCheckpointTopic implements CheckpointTopic {
  readonly #settings: KafkaSettings;
  readonly #link: KafkaLink;
  #seenTo = false;

  constructor(private readonly parts: CheckpointTopicParts) {
    this.#settings = { ...parts.settings, topic: checkpointTopicName(parts.settings.topic) };
    this.#link = new KafkaLink(this.#settings, parts.log);
  }

  /** Raises KafkaError, TopicRefusedError. */
  async newest<T>(read: (note: string) => T | undefined): Promise<T | undefined> {
    await this.#seeTo();
    const [start, end] = await this.#ends();
    for (const back of RECORDS_BACK) {
      let found: T | undefined;
      for await (const note of this.#between(Math.max(start, end - back), end)) found = read(note) ?? found;
      if (found !== undefined || end - back <= start) return found;
    }
    return undefined;
  }

  /** Every record's text from the first on, for whoever looks for an older one. Raises KafkaError. */
  async *notes(): AsyncGenerator<string> {
    const [start, end] = await this.#ends();
    yield* this.#between(start, end);
  }

  /** Raises KafkaError, TopicRefusedError. Appended twice it may be, when an acknowledgement got lost. */
  async append(note: string): Promise<void> {
    await this.#seeTo();
    const node = await this.#leader();
    const record = { key: 'checkpoint', value: note, headers: { 'content-type': 'text/plain; charset=utf-8' } };
    const answer = (await this.#link.produce(node, new Map([[PARTITION, [record]]]))).get(PARTITION);
    if (typeof answer === 'number') return;
    throw answer ?? new KafkaError('unreachable', 'Kafka: the broker did not answer for the checkpoint.');
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  /** Nothing is sent to a topic that was not looked at. */
  async #seeTo(): Promise<void> {
    if (this.#seenTo) return;
    const { replicationFactor, log } = this.parts;
    await ensureTopic(this.#settings, { partitions: 1, replicationFactor }, log);
    this.#seenTo = true;
  }

  async #ends(): Promise<readonly [number, number]> {
    const start = (await this.#link.offsets([PARTITION], 'earliest')).get(PARTITION) ?? 0;
    return [start, (await this.#link.offsets([PARTITION], 'latest')).get(PARTITION) ?? 0];
  }

  async #leader(): Promise<string> {
    const [node] = (await this.#link.leaders([PARTITION])).keys();
    if (node === undefined) throw new KafkaError('unreachable', 'Kafka: nobody leads the topic of checkpoints now.');
    return node;
  }

  async *#between(from: number, end: number): AsyncGenerator<string> {
    let empty = 0;
    for (let next = from; next < end;) {
      const [fetched] = await this.#link.fetch(await this.#leader(), new Map([[PARTITION, next]]), LIMITS);
      if (fetched?.fault !== undefined) throw fetched.fault;
      const records = (fetched?.records ?? []).filter(({ offset }) => offset >= next && offset < end);
      for (const record of records) yield textOf(record);
      empty = records.length === 0 ? empty + 1 : 0;
      if (empty > EMPTY_ANSWERS_MAX)
        throw new KafkaError('unreachable', 'Kafka: the topic of checkpoints can’t be read.');
      next = Math.max(next, fetched?.nextOffset ?? next);
    }
  }
}

const textOf = ({ value }: Pick<KafkaRecord, 'value'>): string => value?.toString('utf8') ?? '';
