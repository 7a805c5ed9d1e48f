import { setTimeout as sleep } from 'node:timers/promises';
import { KafkaClient, toKafkaError } from './client.js';
import type { Cluster, KafkaLog, KafkaSettings } from './client.js';
import { KafkaError } from './errors.js';

/** A record as Kafka holds it. */
export interface KafkaRecord {
  readonly offset: number;
  readonly value: Buffer | null;
}

/** What one fetch brought for one partition. */
export interface Fetched {
  readonly partition: number;
  readonly records: readonly KafkaRecord[];
  /** Where to read on. */
  readonly nextOffset: number;
  /** This partition can't be read at this offset; the others can. */
  readonly fault?: KafkaError;
}

export interface FetchLimits {
  /** How long the broker waits for something to come, ms. */
  readonly maxWaitMs: number;
  /** Of one answer, bytes; a single larger record batch still comes. */
  readonly maxBytes: number;
  readonly maxBytesPerPartition: number;
}

export interface OutgoingMessage {
  readonly key: string;
  readonly value: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** The part of kafkajs's answers that is used; it types them as `any`. */
interface FetchAnswer {
  readonly responses: readonly {
    readonly partitions: readonly {
      readonly partition: number;
      readonly messages: readonly {
        readonly offset: string;
        readonly value: Buffer | null;
        readonly isControlRecord?: boolean;
      }[];
    }[];
  }[];
}
interface ProduceAnswer {
  readonly topics: readonly {
    readonly partitions: readonly { readonly partition: number; readonly baseOffset: string }[];
  }[];
}

interface Session {
  readonly client: KafkaClient;
  readonly cluster: Cluster;
}

/** Faults of one partition, which leave the connection as good as it was. */
const PARTITION_FAULTS: ReadonlySet<string> = new Set(['out_of_range', 'unreadable', 'too_large']);
const READ_UNCOMMITTED = 0;
const ALL_REPLICAS = -1;

/**
 * Connections to the brokers for one purpose, with the few requests that Holdfast makes, on one topic. After any failure that
 * is not one partition's own, the connections are thrown away and the next call makes new ones: nothing is mended in place.
 * Calls never wait for each other to recover; they raise KafkaError, and the caller decides when to try again.
 */
export class KafkaLink {
  #session: Promise<Session> | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    private readonly settings: KafkaSettings,
    private readonly log: KafkaLog,
  ) {}

  get topic(): string {
    return this.settings.topic;
  }

  /** The first offset that the log holds, or the one that the next record will get, of each partition. */
  async offsets(partitions: readonly number[], at: 'earliest' | 'latest'): Promise<Map<number, number>> {
    if (partitions.length === 0) return new Map();
    return this.#use(async (cluster) => {
      const topic = { topic: this.topic, partitions: partitions.map((partition) => ({ partition })) };
      const [answer] = await cluster.fetchTopicsOffset([{ ...topic, fromBeginning: at === 'earliest' }]);
      const offsets = new Map(answer?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
      const missing = partitions.find((partition) => !offsets.has(partition));
      if (missing !== undefined)
        throw new KafkaError('topic_missing', `Kafka: topic ${this.topic} has no partition ${missing}.`);
      return offsets;
    });
  }

  /** How many partitions the topic has. */
  async partitionCount(): Promise<number> {
    return this.#use((cluster) => Promise.resolve(cluster.findTopicPartitionMetadata(this.topic).length));
  }

  /** The partitions by the broker that leads them now, as far as it is known. */
  async leaders(partitions: readonly number[]): Promise<Map<string, number[]>> {
    return this.#use((cluster) => {
      const byNode = cluster.findLeaderForPartitions(this.topic, [...partitions]);
      return Promise.resolve(new Map(Object.entries(byNode)));
    });
  }

  /**
   * Reads partitions that one broker leads, each from its offset; one request. Two of them must not run at once on one link
   * (the broker answers them one after the other anyway). A fault of one partition is reported in its place.
   */
  async fetch(node: string, from: ReadonlyMap<number, number>, limits: FetchLimits): Promise<Fetched[]> {
    try {
      return await this.#fetchTogether(node, from, limits);
    } catch (error) {
      const fault = toKafkaError(error);
      if (!PARTITION_FAULTS.has(fault.code)) throw fault;
      const [only] = from;
      if (only !== undefined && from.size === 1)
        return [{ partition: only[0], records: [], nextOffset: only[1], fault }];
      // kafkajs does not say whose fault it was: ask one by one.
      const found: Fetched[] = [];
      for (const entry of from) found.push(...(await this.fetch(node, new Map([entry]), { ...limits, maxWaitMs: 0 })));
      return found;
    }
  }

  async #fetchTogether(node: string, from: ReadonlyMap<number, number>, limits: FetchLimits): Promise<Fetched[]> {
    return this.#use(async (cluster) => {
      const broker = await cluster.findBroker({ nodeId: node });
      const partitions = [...from].map(([partition, offset]) => ({
        partition,
        fetchOffset: offset.toString(),
        maxBytes: limits.maxBytesPerPartition,
      }));
      const answer = (await broker.fetch({
        isolationLevel: READ_UNCOMMITTED,
        maxWaitTime: limits.maxWaitMs,
        minBytes: 1,
        maxBytes: limits.maxBytes,
        topics: [{ topic: this.topic, partitions }],
      })) as FetchAnswer;
      return answer.responses.flatMap((topic) =>
        topic.partitions.map(({ partition, messages }): Fetched => {
          const asked = from.get(partition) ?? 0;
          // A batch is sent whole, from before the offset asked for.
          const fresh = messages.filter(({ offset }) => Number(offset) >= asked);
          const last = fresh.at(-1);
          return {
            partition,
            records: fresh
              .filter(({ isControlRecord }) => isControlRecord !== true)
              .map(({ offset, value }) => ({ offset: Number(offset), value })),
            nextOffset: last === undefined ? asked : Number(last.offset) + 1,
          };
        }),
      );
    });
  }

  /**
   * Appends batches to partitions that one broker leads, acknowledged by all in-sync replicas; one request. Answers the offset
   * of each batch's first record. Raises KafkaError; then each batch may have been appended or not.
   */
  async produce(node: string, batches: ReadonlyMap<number, readonly OutgoingMessage[]>): Promise<Map<number, number>> {
    return this.#use(async (cluster) => {
      const broker = await cluster.findBroker({ nodeId: node });
      const partitions = [...batches].map(([partition, messages]) => ({
        partition,
        messages: messages.map(({ key, value, headers }) => ({ key, value, headers: { ...headers } })),
      }));
      const answer = (await broker.produce({
        acks: ALL_REPLICAS,
        timeout: this.settings.requestTimeoutMs ?? 10_000,
        topicData: [{ topic: this.topic, partitions }],
      })) as ProduceAnswer;
      return new Map(
        answer.topics.flatMap((topic) => topic.partitions.map((p) => [p.partition, Number(p.baseOffset)] as const)),
      );
    });
  }

  /** Closes the connections; calls under way raise `closed`. Takes at most half a second, never raises. */
  close(): Promise<void> {
    return (this.#closing ??= this.#end(this.#session));
  }

  async #use<T>(work: (cluster: Cluster) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new KafkaError('closed', 'Kafka: the connection is closed.');
    const session = (this.#session ??= this.#open());
    try {
      return await work((await session).cluster);
    } catch (error) {
      if (this.#isClosing()) throw new KafkaError('closed', 'Kafka: the connection was closed.', { cause: error });
      const known = toKafkaError(error);
      if (!PARTITION_FAULTS.has(known.code)) this.#drop(session);
      throw known;
    }
  }

  /** A method, since it changes while a call waits. */
  #isClosing(): boolean {
    return this.#closing !== undefined;
  }

  async #open(): Promise<Session> {
    const client = await KafkaClient.make(this.settings, this.log);
    try {
      const cluster = await client.cluster();
      await cluster.addTargetTopic(this.topic);
      return { client, cluster };
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  #drop(session: Promise<Session>): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    void this.#end(session);
  }

  async #end(session: Promise<Session> | undefined): Promise<void> {
    const opened = session?.then(
      ({ client }) => client.close(),
      () => undefined,
    );
    // A connection that is still being made ends by its own timeout, on its own.
    await Promise.race([opened, sleep(500, undefined, { ref: false })]);
  }
}
