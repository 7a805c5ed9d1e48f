import { Kafka, logLevel } from 'kafkajs';
import { describe, expect, inject, test } from 'vitest';
import { messageOf } from '../../events/index.js';
import {
  KafkaError,
  KafkaLink,
  TopicRefusedError,
  ensureTopic,
  kafkaWitness,
  readTopic,
} from '../../src/kafka/index.js';
import {
  MemoryJournal,
  freshTopic,
  listenedLog,
  quietLog,
  settingsFor,
  upTo,
  writeEvents,
  writeValues,
} from './kafka-setting.js';

const WISH = { partitions: 3, replicationFactor: -1 };

const createByHand = async (
  topic: string,
  entries: Readonly<Record<string, string>>,
  numPartitions = 3,
): Promise<void> => {
  const admin = new Kafka({ brokers: [...inject('kafkaBrokers')], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const rightOnes = { 'retention.ms': '-1', 'retention.bytes': '-1', 'cleanup.policy': 'delete' };
  const configEntries = Object.entries({ ...rightOnes, ...entries }).map(([name, value]) => ({ name, value }));
  await admin.createTopics({ topics: [{ topic, numPartitions, configEntries }], waitForLeaders: false });
  await admin.disconnect();
};

describe('the topic', () => {
  test('is created so that nothing ever leaves it, once, however many start', async () => {
    const settings = settingsFor(inject('kafkaBrokers'));
    const heard = listenedLog();
    await Promise.all([1, 2, 3].map(() => ensureTopic(settings, WISH, heard.log)));
    await ensureTopic(settings, WISH, heard.log);
    expect(heard.said('created the topic')).toHaveLength(1);
  });

  test.each([
    ['retention.ms', '604800000'],
    ['retention.bytes', '1000000'],
    ['cleanup.policy', 'compact'],
    ['cleanup.policy', 'delete,compact'],
    ['compression.type', 'zstd'],
    ['max.message.bytes', '100000'],
  ])('is refused with %s = %s, by the name of the setting', async (setting, value) => {
    const settings = settingsFor(inject('kafkaBrokers'));
    await createByHand(settings.topic, { [setting]: value });
    const refused = ensureTopic(settings, WISH, quietLog);
    await expect(refused).rejects.toBeInstanceOf(TopicRefusedError);
    await expect(refused).rejects.toMatchObject({
      setting,
      found: expect.stringContaining(value.split(',')[0] ?? '') as string,
    });
  });

  test('is refused with another number of partitions than the ledger has', async () => {
    const settings = settingsFor(inject('kafkaBrokers'));
    await createByHand(settings.topic, {}, 4);
    await expect(ensureTopic(settings, WISH, quietLog)).rejects.toThrow(/has partitions = 4; a ledger needs 3/);
  });

  test('can’t be looked at when no broker answers, which says where it looked and no password', async () => {
    const settings = {
      ...settingsFor(['127.0.0.1:1']),
      saslMechanism: 'plain',
      saslUsername: 'u',
      saslPassword: 'secret-word',
    } as const;
    const heard = listenedLog();
    const failed = ensureTopic(settings, WISH, heard.log);
    await expect(failed).rejects.toBeInstanceOf(KafkaError);
    await expect(failed).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('127.0.0.1:1') as string,
    });
    expect(heard.said('secret-word')).toEqual([]);
  });
});

describe('reading the whole topic', () => {
  test('gives every event of each partition in the order of the topic, and says what is none', async () => {
    const settings = await freshTopic(3);
    const journal = new MemoryJournal(3);
    for (let i = 0; i < 4; i++) await writeEvents(settings, journal.append(0, 600));
    await writeEvents(settings, journal.append(2, 5));
    const damaged = messageOf(journal.event(2, 3)).replace('tenant-2', 'tenant-3');
    await writeValues(settings, 2, ['hello', damaged]);
    await writeEvents(settings, [journal.event(2, 4), journal.event(2, 5)]);
    const positions = new Map<number, number[]>();
    const foreign: [number, number, string][] = [];
    const link = new KafkaLink(settings, quietLog);
    const read = await readTopic({
      link,
      ledger: journal.ledger,
      partitions: journal.numbers,
      onMessages: (partition, messages) => {
        positions.set(partition, [...(positions.get(partition) ?? []), ...messages.map(({ position }) => position)]);
        return Promise.resolve();
      },
      onForeign: (...what) => foreign.push(what),
    });
    await link.close();
    expect(positions.get(0)).toEqual(upTo(2_400));
    expect(positions.get(1)).toBeUndefined();
    expect(positions.get(2)).toEqual([1, 2, 3, 4, 5, 4, 5]);
    expect(foreign).toEqual([
      [2, 5, 'it is not in the form of an event'],
      [2, 6, 'its hash is not that of its body'],
    ]);
    expect(read).toEqual([
      { partition: 0, events: 2_400, foreign: 0 },
      { partition: 1, events: 0, foreign: 0 },
      { partition: 2, events: 7, foreign: 2 },
    ]);
  });

  test('ends when it is given up', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    for (let i = 0; i < 6; i++) await writeEvents(settings, journal.append(0, 400));
    const link = new KafkaLink(settings, quietLog);
    const giveUp = new AbortController();
    let seen = 0;
    const reading = readTopic({
      link,
      ledger: journal.ledger,
      partitions: [0],
      signal: giveUp.signal,
      onMessages: (_partition, messages) => {
        seen += messages.length;
        giveUp.abort();
        return Promise.resolve();
      },
    });
    await expect(reading).rejects.toMatchObject({ code: 'closed' });
    await link.close();
    expect(seen).toBeLessThan(2_400);
  });

  test('tells as a witness up to where Kafka has each partition', async () => {
    const settings = await freshTopic(2);
    const journal = new MemoryJournal(2);
    await writeEvents(settings, journal.append(1, 4));
    const witness = kafkaWitness(() => new KafkaLink(settings, quietLog), journal.ledger, [0, 1]);
    const { hash } = journal.event(1, 4);
    expect(await witness.tails()).toEqual([{ partition: 1, position: 4, hash, incarnation: 1 }]);
  });
});
