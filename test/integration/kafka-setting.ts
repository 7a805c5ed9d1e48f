/** What the tests of the Kafka side share: a topic of their own, a journal in memory, and records as they stand on Kafka. */
import { randomBytes, randomUUID } from 'node:crypto';
import { ConfigResourceTypes, Kafka, logLevel } from 'kafkajs';
import { pino } from 'pino';
import { inject } from 'vitest';
import { genesisHash, messageOf } from '../../events/index.js';
import type { Metadata, StoredEvent } from '../../events/index.js';
import { execute } from '../../src/core/decide/index.js';
import type { LogTail } from '../../src/core/decide/index.js';
import type { Elected, Elections, Head, JournalReader, SealedReader } from '../../src/core/ports.js';
import { initialState } from '../../src/core/state.js';
import { KafkaLink, Relay, ensureTopic } from '../../src/kafka/index.js';
import type { KafkaSettings, RelayParts } from '../../src/kafka/index.js';

export const settingsFor = (
  brokers: readonly string[],
  topic = `log-${randomBytes(6).toString('hex')}`,
): KafkaSettings => ({
  brokers,
  topic,
  clientId: 'holdfast-test',
  tls: false,
  saslMechanism: 'none',
});

/** A log whose lines can be looked at. */
export const listenedLog = () => {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  return { log, said: (text: string) => lines.filter((line) => line.includes(text)) };
};

export const { log: quietLog } = listenedLog();

/** A fresh topic on the shared broker (or another). */
export const freshTopic = async (partitions: number, brokers = inject('kafkaBrokers')): Promise<KafkaSettings> => {
  const settings = settingsFor(brokers);
  await ensureTopic(settings, { partitions, replicationFactor: -1 }, quietLog);
  return settings;
};

/** A journal that lies in memory: real events, decided and chained as everywhere. */
export class MemoryJournal implements Pick<JournalReader, 'heads' | 'read'>, SealedReader {
  incarnation = 1;
  /** Set, it is away. */
  fault: Error | undefined;
  readonly #partitions: { state: ReturnType<typeof initialState>; tail: LogTail; events: StoredEvent[] }[];

  constructor(
    partitions: number,
    readonly ledger: string = randomUUID(),
  ) {
    this.#partitions = Array.from({ length: partitions }, (_, partition) => ({
      state: initialState(),
      tail: { ledger, partition, incarnation: 1, position: 0, hash: genesisHash(ledger, partition) },
      events: [],
    }));
  }

  get numbers(): number[] {
    return this.#partitions.map((_, partition) => partition);
  }

  /** Appends `count` events to a partition. `amount` makes two journals differ, `metadata` the events large. */
  append(partition: number, count: number, amount = 1n, metadata: Metadata = {}): StoredEvent[] {
    const at = this.#at(partition);
    const tail = { ...at.tail, incarnation: this.incarnation };
    const tenant = `tenant-${partition}`;
    const place = { tenant, account: tenant };
    const made: StoredEvent[] = [];
    for (let i = 0; i < count; i++) {
      const id = `${tail.position}`;
      const open = {
        kind: 'open_account',
        ...place,
        unit: 'USD',
        scale: 6,
        overdraftLimit: 0n,
        exempt: false,
      } as const;
      const command = tail.position === 0 ? open : ({ kind: 'recharge', ...place, id, amount, metadata } as const);
      made.push(...execute(at.state, tail, command, Date.now()).events);
    }
    at.tail = tail;
    at.events.push(...made);
    return made;
  }

  event(partition: number, position: number): StoredEvent {
    const stored = this.#at(partition).events[position - 1];
    if (stored === undefined) throw new Error(`There is no position ${position}.`);
    return stored;
  }

  heads(partitions: readonly number[] = this.numbers): Promise<Head[]> {
    if (this.fault !== undefined) return Promise.reject(this.fault);
    return Promise.resolve(
      partitions.map((partition) => {
        const { position, hash } = this.#at(partition).tail;
        return { partition, position, hash };
      }),
    );
  }

  read(partition: number, after: number, limit: number): Promise<StoredEvent[]> {
    if (this.fault !== undefined) return Promise.reject(this.fault);
    return Promise.resolve(this.#at(partition).events.slice(after, after + limit));
  }

  readSealed(partition: number, after: number, limit: number): Promise<StoredEvent[]> {
    return this.read(partition, after, limit);
  }

  #at(partition: number) {
    const at = this.#partitions[partition];
    if (at === undefined) throw new Error(`There is no partition ${partition}.`);
    return at;
  }
}

/** Elections among the relays of one test. */
export class MemoryElections implements Elections {
  readonly held = new Map<string, AbortController>();
  tries = 0;

  tryElect(name: string, partition: number): Promise<Elected | undefined> {
    this.tries++;
    const office = `${name} ${partition}`;
    if (this.held.has(office)) return Promise.resolve(undefined);
    const controller = new AbortController();
    this.held.set(office, controller);
    const release = (): Promise<void> => {
      this.held.delete(office);
      controller.abort();
      return Promise.resolve();
    };
    return Promise.resolve({ signal: controller.signal, release });
  }
}

export const relayOf = (settings: KafkaSettings, journal: MemoryJournal, more: Partial<RelayParts> = {}): Relay =>
  new Relay({
    settings,
    log: quietLog,
    ledger: journal.ledger,
    partitions: journal.numbers,
    incarnation: () => journal.incarnation,
    reader: journal,
    elections: new MemoryElections(),
    electionIntervalMs: 50,
    ...more,
  });

/** Changes a setting of the topic. */
export const configureTopic = async ({ brokers, topic }: KafkaSettings, name: string, value: string): Promise<void> => {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const resources = [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries: [{ name, value }] }];
  await admin.alterConfigs({ validateOnly: false, resources });
  await admin.disconnect();
};

/** The values of a partition as they stand on Kafka, oldest first. */
export const valuesOn = async (settings: KafkaSettings, partition: number): Promise<string[]> => {
  const link = new KafkaLink(settings, quietLog);
  try {
    const end = (await link.offsets([partition], 'latest')).get(partition) ?? 0;
    let next = (await link.offsets([partition], 'earliest')).get(partition) ?? 0;
    const values: string[] = [];
    while (next < end) {
      const [node = ''] = (await link.leaders([partition])).keys();
      const limits = { maxWaitMs: 100, maxBytes: 4_000_000, maxBytesPerPartition: 4_000_000 };
      const [fetched] = await link.fetch(node, new Map([[partition, next]]), limits);
      if (fetched === undefined) continue;
      if (fetched.fault !== undefined) throw fetched.fault;
      values.push(...fetched.records.map(({ value }) => value?.toString() ?? 'null'));
      next = fetched.nextOffset;
    }
    return values;
  } finally {
    await link.close();
  }
};

/** The positions of a partition as they stand on Kafka; 0 for what is no event. */
export const positionsOn = async (settings: KafkaSettings, partition: number): Promise<number[]> =>
  (await valuesOn(settings, partition)).map((value) => {
    const position = /"position":"(\d+)"/.exec(value)?.[1];
    return position === undefined ? 0 : Number(position);
  });

/** What a consumer takes that drops every position which is not greater than its last. */
export const takenOf = (positions: readonly number[]): number[] => {
  const taken: number[] = [];
  for (const position of positions) if (position > (taken.at(-1) ?? 0)) taken.push(position);
  return taken;
};

export const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** Writes values to a partition, past any relay. */
export const writeValues = async (
  settings: KafkaSettings,
  partition: number,
  values: readonly string[],
): Promise<void> => {
  const link = new KafkaLink(settings, quietLog);
  try {
    const [node = ''] = (await link.leaders([partition])).keys();
    const messages = values.map((value) => ({ key: 'k', value, headers: {} }));
    await link.produce(node, new Map([[partition, messages]]));
  } finally {
    await link.close();
  }
};

export const writeEvents = (settings: KafkaSettings, events: readonly StoredEvent[]): Promise<void> =>
  writeValues(settings, events[0]?.event.partition ?? 0, events.map(messageOf));
