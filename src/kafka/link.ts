import { setTimeout as sleep } from 'node:timers/promises';
import { KafkaClient, sendCall, toKafkaError } from './client.js';
import type { Cluster, KafkaLog, KafkaSettings } from './client.js';
import { KafkaError, isPartitionFault } from './errors.js';
import { fetchCall } from './wire/fetch.js';
import { produceCall } from './wire/produce.js';
import type { Produced } from './wire/produce.js';
import type { FetchLimits, Fetched, OutgoingMessage } from './wire/records.js';

export type { FetchLimits, Fetched, KafkaRecord, OutgoingMessage } from './wire/records.js';

interface Session {
  readonly client: KafkaClient;
  readonly cluster: Cluster;
}

const REQUEST_TIMEOUT_MS = 10_000;

/** The same, beginning with another: the broker fills its answer in the order asked, so that each must come first at times. */
const rotated = (from: ReadonlyMap<number, number>, turn: number): ReadonlyMap<number, number> => {
  const entries = [...from];
  const first = turn % Math.max(entries.length, 1);
  return new Map([...entries.slice(first), ...entries.slice(0, first)]);
};

/**
 * Connections to the brokers for one purpose, with the few requests that Holdfast makes, on one topic. After any failure that
 * is not one partition's own, the connections are thrown away and the next call makes new ones: nothing is mended in place.
 * Calls never wait for each other to recover; they raise KafkaError, and the caller decides when to try again.
 */
export class KafkaLink {
  #session: Promise<Session> | undefined;
  #closing: Promise<void> | undefined;
  #turn = 0;

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
    const asked = { topic: this.topic, from: rotated(from, this.#turn++), limits };
    return this.#use(async (cluster) => sendCall(await cluster.findBroker({ nodeId: node }), fetchCall(asked)));
  }

  /**
   * Appends batches to partitions that one broker leads, acknowledged by all in-sync replicas; one request. Answers of each the offset
   * of its first record, or its fault: then it may have been appended or not. Raises KafkaError when that is so of all.
   */
  async produce(node: string, batches: ReadonlyMap<number, readonly OutgoingMessage[]>): Promise<Produced> {
    const timeoutMs = this.settings.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    const call = produceCall({ topic: this.topic, batches, timeoutMs, nowMs: Date.now() });
    return this.#use(async (cluster) => {
      const produced = await sendCall(await cluster.findBroker({ nodeId: node }), call);
      const faults = [...produced.values()].filter((one) => typeof one !== 'number');
      // A leader that is none any more, say: what is known of the cluster is no longer true.
      if (this.#session !== undefined && faults.some((fault) => !isPartitionFault(fault))) this.#drop(this.#session);
      return produced;
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
      if (!isPartitionFault(known)) this.#drop(session);
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
