import { allPartitions } from '../core/partition.js';
import type { TopicFacts } from '../core/doctor-facts.js';
import { KafkaClient, toKafkaError } from './client.js';
import type { KafkaLog, KafkaSettings } from './client.js';
import { KafkaLink } from './link.js';
import { readRecord } from './message.js';
import { lastEvents, readTails } from './tail.js';
import { settingsWrong } from './topic.js';

const LIMITS = { maxWaitMs: 100, maxBytes: 8_388_608, maxBytesPerPartition: 1_048_576 } as const;

/**
 * Looks at the topic and changes nothing: it is not made when it is missing. Without a ledger's id only its settings are looked at.
 * Raises KafkaError.
 */
export const inspectTopic = async (
  settings: KafkaSettings,
  log: KafkaLog,
  ledger: { readonly ledger: string; readonly partitions: number } | undefined,
): Promise<TopicFacts> => {
  const client = await KafkaClient.make(settings, log);
  let count = 0;
  let wrong: readonly string[] = [];
  try {
    const admin = await client.admin();
    if (!(await admin.listTopics()).includes(settings.topic))
      return { exists: false, partitions: 0, settingsWrong: [], firsts: new Map(), tails: [] };
    const [described] = (await admin.fetchTopicMetadata({ topics: [settings.topic] })).topics;
    count = described?.partitions.length ?? 0;
    wrong = await settingsWrong(admin, settings.topic);
  } catch (error) {
    throw toKafkaError(error);
  } finally {
    await client.close();
  }
  const facts = { exists: true, partitions: count, settingsWrong: wrong };
  if (ledger?.partitions !== count) return { ...facts, firsts: new Map(), tails: [] };
  const link = new KafkaLink(settings, log);
  try {
    const partitions = allPartitions(count);
    const firsts = await firstPositions(link, ledger.ledger, partitions);
    const tails = lastEvents(await readTails(link, ledger.ledger, partitions));
    return { ...facts, firsts, tails };
  } finally {
    await link.close();
  }
};

/** The position of the first event among the first records of each partition. */
const firstPositions = async (
  link: KafkaLink,
  ledger: string,
  partitions: readonly number[],
): Promise<ReadonlyMap<number, number>> => {
  const [starts, ends] = [await link.offsets(partitions, 'earliest'), await link.offsets(partitions, 'latest')];
  const filled = partitions.filter((partition) => (starts.get(partition) ?? 0) < (ends.get(partition) ?? 0));
  const firsts = new Map<number, number>();
  for (const [node, led] of await link.leaders(filled)) {
    // One at a time: a broker fills an answer with the first partitions asked for, and these are few bytes each.
    for (const partition of led) {
      const [fetched] = await link.fetch(node, new Map([[partition, starts.get(partition) ?? 0]]), LIMITS);
      if (fetched?.fault !== undefined) throw fetched.fault;
      for (const record of fetched?.records ?? []) {
        const read = readRecord(record, ledger, partition);
        if (read.kind !== 'event') continue;
        firsts.set(partition, read.message.position);
        break;
      }
    }
  }
  return firsts;
};
