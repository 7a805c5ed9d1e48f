import { Kafka, logLevel } from 'kafkajs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { StoredEvent } from '../../events/index.js';
import { Follower, ensureTopic } from '../../src/kafka/index.js';
import type { FollowerParts, KafkaSettings } from '../../src/kafka/index.js';
import { compileDecodeBody } from '../../src/validation/decode-body.js';
import {
  MemoryJournal,
  configureTopic,
  freshTopic,
  listenedLog,
  positionsOn,
  quietLog,
  relayOf,
  upTo,
  writeEvents,
} from './kafka-setting.js';

const decode = compileDecodeBody();
const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

/** A follower with a sink that keeps the positions that it was given. */
const following = async (settings: KafkaSettings, journal: MemoryJournal, more: Partial<FollowerParts> = {}) => {
  const taken: number[] = [];
  const heard = listenedLog();
  const sink = (_partition: number, run: readonly StoredEvent[]): Promise<void> => {
    taken.push(...run.map(({ event }) => event.position));
    return Promise.resolve();
  };
  const { ledger, numbers: partitions } = journal;
  const parts = { settings, log: heard.log, ledger, partitions, decode, reader: journal, sink, ...more };
  const follower = new Follower(parts);
  running.push(follower);
  follower.start();
  await follower.started();
  return { follower, taken, said: heard.said };
};

/** How far a consumer gets that takes a position only when it follows on its last. */
const followedOn = (positions: readonly number[]): number =>
  positions.reduce((last, position) => (position === last + 1 ? position : last), 0);

const deleteTopic = async (settings: KafkaSettings): Promise<void> => {
  const admin = new Kafka({ brokers: [...settings.brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.deleteTopics({ topics: [settings.topic] });
  await vi.waitFor(async () => expect(await admin.listTopics()).not.toContain(settings.topic));
  await admin.disconnect();
};

describe('the follower of a log that is not as it should be', () => {
  test('finds what stands further back, where two relays sent at once', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    const events = journal.append(0, 30);
    await writeEvents(settings, events.slice(0, 20));
    await writeEvents(settings, events.slice(10, 15));
    // The last record is position 15: that is where the follower begins, and 16 to 20 stand before it.
    const { follower, taken, said } = await following(settings, journal);
    await writeEvents(settings, events.slice(20, 30));
    await vi.waitFor(() => expect(taken).toEqual(upTo(30).slice(15)));
    expect(follower.status()[0]).toMatchObject({ phase: 'following', position: 30 });
    expect(said('jumps ahead')).toHaveLength(1);
  });

  test('takes nothing past a gap, says so, and goes on when it is filled', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    const events = journal.append(0, 12);
    const { follower, taken, said } = await following(settings, journal);
    await writeEvents(settings, [...events.slice(0, 5), ...events.slice(7, 10)]);
    await vi.waitFor(() => expect(said('events behind this position are missing on Kafka')).toHaveLength(1));
    expect(follower.status()[0]?.why).toBe('events behind position 5 are missing on Kafka');
    await writeEvents(settings, events.slice(10, 11));
    await writeEvents(settings, events.slice(5, 12));
    await vi.waitFor(() => expect(taken).toEqual(upTo(12)));
    expect(follower.status()[0]).not.toHaveProperty('why');
  });

  test('stops at a fork, and confirms nothing behind it', async () => {
    const settings = await freshTopic(2);
    const journal = new MemoryJournal(2);
    const forked = new MemoryJournal(2, journal.ledger);
    const { follower, taken, said } = await following(settings, journal);
    await writeEvents(settings, journal.append(0, 4));
    forked.append(0, 4, 2n);
    const waiting = follower.confirmed(0, 5, 'f'.repeat(64));
    const refused = expect(waiting).rejects.toMatchObject({ code: 'replication_pending' });
    await writeEvents(settings, forked.append(0, 1));
    await refused;
    expect(follower.status()[0]).toMatchObject({ phase: 'stopped', position: 4 });
    expect(follower.status()[0]?.why).toMatch(/contradicts the log up to position 4: a fork/);
    await writeEvents(settings, journal.append(1, 2));
    await vi.waitFor(() => expect(taken).toEqual([1, 2, 3, 4, 1, 2]));
    expect(said('stopped following')).toHaveLength(1);
  });

  test('stops when Kafka holds another event at a position that it has followed', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    const forked = new MemoryJournal(1, journal.ledger);
    const { follower } = await following(settings, journal);
    await writeEvents(settings, journal.append(0, 4));
    await writeEvents(settings, forked.append(0, 4, 2n));
    await vi.waitFor(() => expect(follower.status()[0]?.phase).toBe('stopped'));
  });

  test('stops one partition at a batch in a compression that it can’t read; the others go on', async () => {
    const settings = await freshTopic(2);
    const journal = new MemoryJournal(2);
    const { follower, taken } = await following(settings, journal);
    await writeEvents(settings, journal.append(0, 2));
    await vi.waitFor(() => expect(taken).toEqual([1, 2]));
    await configureTopic(settings, 'compression.type', 'lz4');
    await vi.waitFor(async () => {
      await writeEvents(settings, journal.append(0, 1));
      expect(follower.status()[0]?.why).toMatch(/LZ4 compression not implemented/);
    });
    await configureTopic(settings, 'compression.type', 'producer');
    await writeEvents(settings, journal.append(1, 3));
    await vi.waitFor(() => expect(follower.status()[1]).toMatchObject({ phase: 'following', position: 3 }));
    expect(follower.status()[0]?.phase).toBe('stopped');
  });

  test('reads what the broker has compressed by gzip', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    await configureTopic(settings, 'compression.type', 'gzip');
    const { follower, taken } = await following(settings, journal);
    await writeEvents(settings, journal.append(0, 300));
    await vi.waitFor(() => expect(taken).toEqual(upTo(300)));
    expect(follower.status()[0]).toMatchObject({ phase: 'following', position: 300 });
  });

  test('leaves out what a relay of an incarnation that is over still sends', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    const zombie = new MemoryJournal(1, journal.ledger);
    const { follower, taken, said } = await following(settings, journal);
    const common = journal.append(0, 3);
    zombie.append(0, 3);
    await writeEvents(settings, common);
    journal.incarnation = 2;
    await writeEvents(settings, journal.append(0, 2));
    await writeEvents(settings, zombie.append(0, 4, 5n));
    await writeEvents(settings, journal.append(0, 2));
    await vi.waitFor(() => expect(taken).toEqual(upTo(7)));
    expect(follower.status()[0]).toMatchObject({ phase: 'following', foreign: 4 });
    expect(said('of an incarnation that is over')).toHaveLength(1);
  });
});

describe('a topic that is deleted and made anew under everybody', () => {
  test('is filled again from the journal, and followed on, loudly', async () => {
    const settings = await freshTopic(2);
    const journal = new MemoryJournal(2);
    const { follower, taken } = await following(settings, journal);
    const { log, said } = listenedLog();
    const relay = relayOf(settings, journal, { log });
    running.push(relay);
    relay.start();
    const confirmLast = async (): Promise<void> => {
      for (const { partition, position, hash } of await journal.heads())
        await follower.confirmed(partition, position, hash);
    };
    journal.append(0, 900);
    journal.append(1, 5);
    await confirmLast();
    await deleteTopic(settings);
    await ensureTopic(settings, { partitions: 2, replicationFactor: -1 }, quietLog);
    journal.append(0, 10);
    journal.append(1, 10);
    await vi.waitFor(confirmLast, { timeout: 20_000 });
    // What was sent before the loss was noticed may come first; a consumer that takes only what follows on gets all.
    await vi.waitFor(async () => expect(followedOn(await positionsOn(settings, 0))).toBe(910), { timeout: 20_000 });
    await vi.waitFor(async () => expect(followedOn(await positionsOn(settings, 1))).toBe(15), { timeout: 20_000 });
    await vi.waitFor(() =>
      expect([...taken].sort((a, b) => a - b)).toEqual([...upTo(910), ...upTo(15)].sort((a, b) => a - b)),
    );
    expect(said('Kafka has lost events that it had acknowledged')).not.toEqual([]);
  });
});
