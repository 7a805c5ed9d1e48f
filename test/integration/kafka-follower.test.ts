import { afterEach, describe, expect, test, vi } from 'vitest';
import { chainHash, messageOf } from '../../events/index.js';
import type { StoredEvent } from '../../events/index.js';
import { Follower } from '../../src/kafka/index.js';
import type { FollowerParts, KafkaSettings, Relay } from '../../src/kafka/index.js';
import { compileDecodeBody } from '../../src/validation/decode-body.js';
import {
  MemoryJournal,
  freshTopic,
  listenedLog,
  quietLog,
  relayOf,
  upTo,
  writeEvents,
  writeValues,
} from './kafka-setting.js';

const decode = compileDecodeBody();
const running: (Relay | Follower)[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

const followerOf = (settings: KafkaSettings, journal: MemoryJournal, more: Partial<FollowerParts> = {}): Follower => {
  const { ledger, numbers: partitions } = journal;
  const follower = new Follower({ settings, log: quietLog, ledger, partitions, decode, reader: journal, ...more });
  running.push(follower);
  follower.start();
  return follower;
};

const relayed = (settings: KafkaSettings, journal: MemoryJournal): Relay => {
  const relay = relayOf(settings, journal);
  running.push(relay);
  relay.start();
  return relay;
};

/** A sink that keeps the positions that it was given. */
const keeper = () => {
  const taken: number[] = [];
  const sink = (_partition: number, run: readonly StoredEvent[]): Promise<void> => {
    taken.push(...run.map(({ event }) => event.position));
    return Promise.resolve();
  };
  return { taken, sink };
};

const last = (events: readonly StoredEvent[]): StoredEvent => {
  const stored = events.at(-1);
  if (stored === undefined) throw new Error('no event');
  return stored;
};

const confirm = (follower: Follower, { event, hash }: StoredEvent): Promise<void> =>
  follower.confirmed(event.partition, event.position, hash);

describe('a command that waits for Kafka', () => {
  test('is confirmed once it stands there, whoever relayed it', async () => {
    const settings = await freshTopic(2);
    const journal = new MemoryJournal(2);
    const follower = followerOf(settings, journal);
    await follower.started();
    const waiting = journal.append(1, 3).map((stored) => confirm(follower, stored));
    relayed(settings, journal);
    await Promise.all(waiting);
    await confirm(follower, last(journal.append(0, 1)));
  });

  test('is confirmed when it asks late: seen lately, seen long ago, or there before the follower was', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    await writeEvents(settings, journal.append(0, 400));
    const follower = followerOf(settings, journal);
    await follower.started();
    await confirm(follower, journal.event(0, 400));
    await confirm(follower, journal.event(0, 7));
    for (let i = 0; i < 5; i++) await writeEvents(settings, journal.append(0, 400));
    await confirm(follower, journal.event(0, 2_400));
    for (const position of [399, 401, 1_000, 2_399]) await confirm(follower, journal.event(0, position));
  });

  test('is told that it waits still, when Kafka does not get it in time; asking again waits again', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    const follower = followerOf(settings, journal, { confirmTimeoutMs: 200 });
    await follower.started();
    const [stored] = journal.append(0, 1);
    if (stored === undefined) throw new Error('no event');
    await expect(confirm(follower, stored)).rejects.toMatchObject({
      name: 'UnavailableError',
      code: 'replication_pending',
    });
    const again = confirm(follower, stored);
    relayed(settings, journal);
    await again;
  });

  test('is not confirmed by another event at its position', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    const follower = followerOf(settings, journal);
    await writeEvents(settings, journal.append(0, 3));
    await expect(follower.confirmed(0, 3, 'f'.repeat(64))).rejects.toMatchObject({ code: 'replication_pending' });
    await confirm(follower, journal.event(0, 3));
  });

  test('is not confirmed from long ago when Kafka’s log is not the journal’s', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    const forked = new MemoryJournal(1, journal.ledger);
    await writeEvents(settings, forked.append(0, 5, 2n));
    const mine = last(journal.append(0, 5));
    const follower = followerOf(settings, journal);
    await follower.started();
    await expect(follower.confirmed(0, 2, mine.hash)).rejects.toMatchObject({ code: 'replication_pending' });
  });

  test('is told at once when the process stops', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    const follower = followerOf(settings, journal);
    await follower.started();
    const waiting = confirm(follower, last(journal.append(0, 1)));
    const told = expect(waiting).rejects.toMatchObject({ code: 'replication_pending' });
    await follower.stop();
    await told;
  });
});

describe('the follower', () => {
  test('starts within three seconds on 64 partitions', async () => {
    const settings = await freshTopic(64);
    const journal = new MemoryJournal(64);
    for (const partition of journal.numbers.slice(0, 20)) await writeEvents(settings, journal.append(partition, 5));
    const began = performance.now();
    const follower = followerOf(settings, journal);
    await follower.started();
    expect(performance.now() - began).toBeLessThan(3_000);
    expect(follower.status().map(({ position }) => position)).toEqual([
      ...Array<number>(20).fill(5),
      ...Array<number>(44).fill(0),
    ]);
  });

  test('hands on each event once, in order, and leaves out what is none, saying so once', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    const { taken, sink } = keeper();
    const { log, said } = listenedLog();
    const follower = followerOf(settings, journal, { sink, log });
    await follower.started();
    const events = journal.append(0, 30);
    await writeEvents(settings, events.slice(0, 20));
    await writeValues(settings, 0, ['foreign', 'foreign too']);
    await writeEvents(settings, events.slice(5, 25));
    await writeEvents(settings, events.slice(0, 30));
    await vi.waitFor(() => expect(taken).toEqual(upTo(30)));
    await vi.waitFor(() =>
      expect(follower.status()[0]).toMatchObject({ phase: 'following', foreign: 2, repeated: 40 }),
    );
    expect(said('left out a record')).toHaveLength(1);
  });

  test('begins at the end of the log, or at its beginning where that is asked', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    await writeEvents(settings, journal.append(0, 10));
    const [late, whole] = [keeper(), keeper()];
    const follower = followerOf(settings, journal, { sink: late.sink });
    followerOf(settings, journal, { sink: whole.sink, from: 'earliest' });
    await follower.started();
    await writeEvents(settings, journal.append(0, 2));
    await vi.waitFor(() => expect(whole.taken).toEqual(upTo(12)));
    await vi.waitFor(() => expect(late.taken).toEqual([11, 12]));
  });

  test('stops handing on at an event of a later release, by its name; the other partitions go on, and so do confirmations', async () => {
    const settings = await freshTopic(2);
    const journal = new MemoryJournal(2);
    const { taken, sink } = keeper();
    const follower = followerOf(settings, journal, { sink });
    await follower.started();
    const [first, second] = journal.append(0, 2);
    if (first === undefined || second === undefined) throw new Error('no events');
    const gifted = resealed(second.body.replace('recharged.v1', 'gifted.v1'), first.hash);
    await writeEvents(settings, [first]);
    await writeValues(settings, 0, [gifted.value]);
    await follower.confirmed(0, 2, gifted.hash);
    await vi.waitFor(() => expect(follower.status()[0]?.phase).toBe('stopped'));
    expect(follower.status()[0]?.why).toMatch(/^position 2: .*com\.holdfast\.gifted\.v1 at partition 0, position 2/);
    await writeEvents(settings, journal.append(1, 3));
    await vi.waitFor(() => expect(taken).toEqual([1, ...upTo(3)]));
  });

  test('hands a run over again when the sink fails', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    const { taken, sink } = keeper();
    let failures = 2;
    const follower = followerOf(settings, journal, {
      sink: (partition, run) => (failures-- > 0 ? Promise.reject(new Error('not now')) : sink(partition, run)),
    });
    await follower.started();
    await writeEvents(settings, journal.append(0, 5));
    await vi.waitFor(() => expect(taken).toEqual(upTo(5)));
  });

  test('does not let a slow sink keep commands waiting: what is too much is left out', async () => {
    const settings = await freshTopic(1);
    const journal = new MemoryJournal(1);
    let release: () => void = () => undefined;
    const blocked = new Promise<void>((resolve) => (release = resolve));
    const { taken, sink } = keeper();
    const follower = followerOf(settings, journal, { sink: (p, run) => blocked.then(() => sink(p, run)) });
    await follower.started();
    for (let i = 0; i < 14; i++) await writeEvents(settings, journal.append(0, 400));
    await confirm(follower, journal.event(0, 5_600));
    await writeEvents(settings, journal.append(0, 10));
    await confirm(follower, journal.event(0, 5_610));
    release();
    await vi.waitFor(() => expect(taken.at(-1)).toBe(5_610));
    expect(taken).toEqual([...taken].sort((a, b) => a - b));
    expect(follower.status()[0]?.skipped).toBe(5_610 - taken.length);
  });
});

/** A body with its place in the chain. */
const resealed = (body: string, prevHash: string): { value: string; hash: string } => {
  const hash = chainHash(prevHash, body);
  return { value: messageOf({ body, prevHash, hash }), hash };
};
