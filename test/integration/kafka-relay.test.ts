import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { messageOf } from '../../events/index.js';
import { CONTENT_TYPE } from '../../src/kafka/index.js';
import type { Relay } from '../../src/kafka/index.js';
import {
  MemoryElections,
  MemoryJournal,
  configureTopic,
  freshTopic,
  listenedLog,
  positionsOn,
  relayOf,
  takenOf,
  upTo,
  writeEvents,
  writeValues,
} from './kafka-setting.js';

const running: Relay[] = [];
const started = (relay: Relay): Relay => {
  running.push(relay);
  relay.start();
  return relay;
};
afterEach(async () => {
  await Promise.all(running.splice(0).map((relay) => relay.stop()));
});

/** Waits until Kafka has all that the journal has, as the relay knows it. */
const caughtUp = async (relay: Relay, journal: MemoryJournal): Promise<void> => {
  const heads = await journal.heads();
  await vi.waitFor(
    () =>
      expect(relay.status().map(({ partition, position }) => ({ partition, position }))).toEqual(
        heads.map(({ partition, position }) => ({ partition, position })),
      ),
    { timeout: 20_000, interval: 20 },
  );
};

/** Waits until the relay has stopped a partition, and answers why. */
const stoppedBecause = async (relay: Relay, partition = 0): Promise<string> => {
  await vi.waitFor(() => expect(relay.status()[partition]?.phase).toBe('stopped'), { timeout: 10_000, interval: 20 });
  return relay.status()[partition]?.why ?? '';
};

describe('the relay', () => {
  test('sends each partition in order, each position once', async () => {
    const settings = await freshTopic(3);
    const journal = new MemoryJournal(3);
    journal.append(0, 1_500);
    journal.append(2, 1);
    const relay = started(relayOf(settings, journal));
    await caughtUp(relay, journal);
    for (const event of journal.append(1, 700)) relay.committed(1, [event]);
    journal.append(2, 40);
    relay.wake(2);
    await caughtUp(relay, journal);
    expect(await positionsOn(settings, 0)).toEqual(upTo(1_500));
    expect(await positionsOn(settings, 1)).toEqual(upTo(700));
    expect(await positionsOn(settings, 2)).toEqual(upTo(41));
    expect(relay.status().map(({ lagEvents, lagSeconds }) => [lagEvents, lagSeconds])).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
  });

  test('stops at an event that is larger than the topic takes, and at nothing else that went along with it', async () => {
    const settings = await freshTopic(3);
    await configureTopic(settings, 'max.message.bytes', '2000');
    const journal = new MemoryJournal(3);
    const relay = started(relayOf(settings, journal));
    await caughtUp(relay, journal);
    for (let round = 0; round < 5; round++) {
      if (round === 2)
        relay.committed(1, [...journal.append(1, 1), ...journal.append(1, 1, 1n, { text: 'x'.repeat(3_000) })]);
      for (const partition of [0, 2]) relay.committed(partition, journal.append(partition, 1));
    }
    expect(await stoppedBecause(relay, 1)).toBe('the event at position 2 is larger than the topic takes');
    for (const partition of [0, 2])
      await vi.waitFor(() => expect(relay.status()[partition]).toMatchObject({ phase: 'relaying', position: 5 }));
  });

  test('writes what any Kafka consumer can read: key, two headers, the event as a CloudEvent', async () => {
    const settings = await freshTopic(2);
    const journal = new MemoryJournal(2);
    const [stored] = journal.append(1, 1);
    await caughtUp(started(relayOf(settings, journal)), journal);
    const kafka = new Kafka({ brokers: [...settings.brokers], logLevel: logLevel.NOTHING });
    const consumer = kafka.consumer({ groupId: `check-${settings.topic}`, maxWaitTimeInMs: 300 });
    await consumer.connect();
    await consumer.subscribe({ topic: settings.topic, fromBeginning: true });
    const first = await new Promise<unknown>((resolve) => {
      void consumer.run({
        eachMessage: ({ partition, message: { key, value, headers } }) => {
          const texts = new Map(Object.entries(headers ?? {}).map(([name, text]) => [name, text?.toString()]));
          resolve({ partition, key: key?.toString(), value: value?.toString(), headers: texts });
          return Promise.resolve();
        },
      });
    });
    await consumer.disconnect();
    expect(first).toEqual({
      partition: 1,
      key: 'tenant-1',
      value: stored === undefined ? '' : messageOf(stored),
      headers: new Map([
        ['content-type', CONTENT_TYPE],
        ['position', '1'],
      ]),
    });
  });

  test('leaves no gap wherever it is stopped, and keeps no cursor', async () => {
    const settings = await freshTopic(2);
    const journal = new MemoryJournal(2);
    for (let round = 0; round < 8; round++) {
      const relay = relayOf(settings, journal);
      relay.start();
      const until = performance.now() + 60 + round * 13;
      while (performance.now() < until) {
        relay.committed(0, journal.append(0, 7));
        journal.append(1, 3);
        await sleep(1);
      }
      await relay.stop();
    }
    await caughtUp(started(relayOf(settings, journal)), journal);
    for (const { partition, position } of await journal.heads())
      expect(takenOf(await positionsOn(settings, partition))).toEqual(upTo(position));
  });

  test('repeats at worst when two send at once: every position still comes first in order', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    // Each believes that it was elected.
    const relays = [relayOf(settings, journal), relayOf(settings, journal)];
    for (const relay of relays) started(relay);
    for (let i = 0; i < 60; i++) {
      const events = journal.append(0, 5);
      for (const relay of relays) relay.committed(0, events);
      await sleep(2);
    }
    for (const relay of relays) await caughtUp(relay, journal);
    const positions = await positionsOn(settings, 0);
    expect(positions.length).toBeGreaterThan(300);
    expect(takenOf(positions)).toEqual(upTo(300));
  });

  test('is elected once, and takes over when the other goes', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    const elections = new MemoryElections();
    journal.append(0, 10);
    const first = started(relayOf(settings, journal, { elections }));
    await caughtUp(first, journal);
    const second = started(relayOf(settings, journal, { elections }));
    const { tries } = elections;
    await vi.waitFor(() => expect(elections.tries).toBeGreaterThan(tries + 2));
    expect(second.status()).toEqual([{ partition: 0, phase: 'standby' }]);
    await first.stop();
    journal.append(0, 10);
    await caughtUp(second, journal);
    expect(await positionsOn(settings, 0)).toEqual(upTo(20));
  });

  test('stands by when its office is lost, and is elected again', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    const elections = new MemoryElections();
    const relay = started(relayOf(settings, journal, { elections, electionIntervalMs: 300 }));
    await caughtUp(relay, journal);
    for (const office of elections.held.values()) office.abort();
    expect(relay.status()[0]?.phase).toBe('standby');
    elections.held.clear();
    journal.append(0, 5);
    await caughtUp(relay, journal);
  });

  test('finds its place behind whatever else stands in the topic', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    const other = new MemoryJournal(1);
    await writeEvents(settings, journal.append(0, 20));
    await writeEvents(settings, other.append(0, 30));
    const changed = messageOf(journal.event(0, 20)).replace('tenant-0', 'tenant-9');
    await writeValues(settings, 0, ['', 'hello', '{"a":1}', changed, ...Array<string>(40).fill('x')]);
    journal.append(0, 10);
    await caughtUp(started(relayOf(settings, journal)), journal);
    expect((await positionsOn(settings, 0)).slice(20 + 30 + 44)).toEqual(upTo(30).slice(20));
  });

  test('waits for a journal that is away, and says so', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    journal.append(0, 3);
    journal.fault = new Error('connection refused');
    const { log, said } = listenedLog();
    const relay = started(relayOf(settings, journal, { log }));
    await vi.waitFor(() => expect(said('connection refused')).not.toEqual([]));
    journal.fault = undefined;
    await caughtUp(relay, journal);
    expect(said('works again')).not.toEqual([]);
  });
});

describe('the relay stops a partition, loudly, and sends nothing more', () => {
  test('when Kafka holds another event at the same position', async () => {
    const settings = await freshTopic(2);
    const journal = new MemoryJournal(2);
    const forked = new MemoryJournal(2, journal.ledger);
    journal.append(0, 5);
    journal.append(1, 5);
    await writeEvents(settings, forked.append(0, 4, 2n));
    const { log, said } = listenedLog();
    const relay = started(relayOf(settings, journal, { log }));
    expect(await stoppedBecause(relay)).toBe('Kafka holds another event at position 4 than the journal: a fork');
    await vi.waitFor(() => expect(relay.status()[1]).toMatchObject({ phase: 'relaying', position: 5 }));
    expect(await positionsOn(settings, 0)).toEqual(upTo(4));
    expect(said('stopped relaying')).toHaveLength(1);
  });

  test('when Kafka is ahead of the journal', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    const before = new MemoryJournal(1, journal.ledger);
    await writeEvents(settings, before.append(0, 9));
    journal.append(0, 3);
    expect(await stoppedBecause(started(relayOf(settings, journal)))).toMatch(
      /^Kafka holds position 9, and the journal ends/,
    );
  });

  test('when a later incarnation writes there', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    journal.incarnation = 3;
    await writeEvents(settings, journal.append(0, 4));
    const relay = started(relayOf(settings, journal, { incarnation: () => 2 }));
    expect(await stoppedBecause(relay)).toMatch(/of incarnation 3, and this process has 2: it has been replaced/);
  });
});
