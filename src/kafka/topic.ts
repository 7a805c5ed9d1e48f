import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigResourceTypes, KafkaClient, toKafkaError } from './client.js';
import type { Admin, KafkaLog, KafkaSettings } from './client.js';
import { KafkaError, TopicRefusedError } from './errors.js';
import { KafkaLink } from './link.js';
import { allPartitions } from '../core/partition.js';

export interface TopicWish {
  /** The ledger's. */
  readonly partitions: number;
  /** Copies of each partition when the topic is created; -1 leaves it to the brokers. */
  readonly replicationFactor: number;
}

/** The largest batch that the relay sends, with what Kafka adds to it. */
const LARGEST_BATCH_BYTES = 786_432;
/** How long a topic that was just created has to be led and served everywhere, ms. */
const SETTLE_MS = 10_000;
/** With three copies, an acknowledgement by two survives the loss of any one. */
const COPIES_FOR_TWO = 3;

/** What a log that is kept for ever needs, by Kafka's name of the setting. */
const RULES: readonly { setting: string; wanted: string; holds: (value: string) => boolean }[] = [
  { setting: 'retention.ms', wanted: '-1 (nothing expires)', holds: (value) => value === '-1' },
  { setting: 'retention.bytes', wanted: '-1 (nothing expires)', holds: (value) => value === '-1' },
  { setting: 'cleanup.policy', wanted: 'delete (no compaction)', holds: (value) => value === 'delete' },
  {
    setting: 'compression.type',
    wanted: 'producer, uncompressed or gzip (others can’t be read here)',
    holds: (value) => ['producer', 'uncompressed', 'gzip'].includes(value),
  },
  {
    setting: 'max.message.bytes',
    wanted: `${LARGEST_BATCH_BYTES} or more`,
    holds: (value) => Number(value) >= LARGEST_BATCH_BYTES,
  },
];

const create = async (admin: Admin, topic: string, wish: TopicWish): Promise<boolean> => {
  const acknowledgements =
    wish.replicationFactor >= COPIES_FOR_TWO ? [{ name: 'min.insync.replicas', value: '2' }] : [];
  return admin.createTopics({
    // kafkajs' own waiting gives up on a broker that has not heard of the topic yet: see settled().
    waitForLeaders: false,
    topics: [
      {
        topic,
        numPartitions: wish.partitions,
        replicationFactor: wish.replicationFactor,
        configEntries: [
          { name: 'retention.ms', value: '-1' },
          { name: 'retention.bytes', value: '-1' },
          { name: 'cleanup.policy', value: 'delete' },
          ...acknowledgements,
        ],
      },
    ],
  });
};

/** Waits until a topic that was just created is there for everybody: every partition's leader answers. */
const settled = async (settings: KafkaSettings, partitions: number, log: KafkaLog): Promise<void> => {
  const link = new KafkaLink(settings, log);
  const numbers = allPartitions(partitions);
  try {
    const deadline = performance.now() + SETTLE_MS;
    for (;;) {
      try {
        await link.offsets(numbers, 'latest');
        return;
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await sleep(50);
      }
    }
  } finally {
    await link.close();
  }
};

const settingsOf = async (admin: Admin, topic: string): Promise<ReadonlyMap<string, string>> => {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name: topic }],
  });
  return new Map(resources[0]?.configEntries.map((entry) => [entry.configName, entry.configValue]));
};

/** Every setting of a topic with which it would lose events, in words. Raises what kafkajs raises. */
export const settingsWrong = async (admin: Admin, topic: string): Promise<readonly string[]> => {
  const values = await settingsOf(admin, topic);
  return RULES.flatMap(({ setting, wanted, holds }) => {
    const value = values.get(setting);
    return value !== undefined && holds(value) ? [] : [`${setting} is ${value ?? 'not told'}, and must be ${wanted}`];
  });
};

const check = async (admin: Admin, topic: string, wish: TopicWish, log: KafkaLog): Promise<void> => {
  const [described] = (await admin.fetchTopicMetadata({ topics: [topic] })).topics;
  const partitions = described?.partitions ?? [];
  if (partitions.length !== wish.partitions)
    throw new TopicRefusedError(topic, 'partitions', `${partitions.length}`, `${wish.partitions}, as the ledger has`);
  const values = await settingsOf(admin, topic);
  for (const { setting, wanted, holds } of RULES) {
    const value = values.get(setting);
    if (value === undefined)
      throw new KafkaError('refused', `Kafka: the brokers don't say what ${setting} of topic ${topic} is.`);
    if (!holds(value)) throw new TopicRefusedError(topic, setting, value, wanted);
  }
  const copies = Math.min(...partitions.map(({ replicas }) => replicas.length));
  if (copies >= COPIES_FOR_TWO && values.get('min.insync.replicas') === '1')
    log.warn({ part: 'kafka', topic }, 'min.insync.replicas is 1: an acknowledged event may stand on one broker only');
};

/**
 * Creates the topic for the log, if it is not there, and checks it: as many partitions as the ledger, nothing that expires, no
 * compaction, no compression that can't be read here (design, section 6).
 * Raises TopicRefusedError, which names the setting, and KafkaError when no broker answers or it may not be looked at.
 */
export const ensureTopic = async (settings: KafkaSettings, wish: TopicWish, log: KafkaLog): Promise<void> => {
  const { topic } = settings;
  const client = await KafkaClient.make(settings, log);
  try {
    const admin = await client.admin();
    if (!(await admin.listTopics()).includes(topic)) {
      // False when another process was faster.
      if (await create(admin, topic, wish)) log.info({ part: 'kafka', ...wish, topic }, 'created the topic');
      await settled(settings, wish.partitions, log);
    }
    await check(admin, topic, wish, log);
  } catch (error) {
    throw error instanceof TopicRefusedError ? error : toKafkaError(error);
  } finally {
    await client.close();
  }
};
