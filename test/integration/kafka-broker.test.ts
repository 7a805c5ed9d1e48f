import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { StoredEvent } from '../../events/index.js';
import { Follower } from '../../src/kafka/index.js';
import type { KafkaSettings, Relay } from '../../src/kafka/index.js';
import { compileDecodeBody } from '../../src/validation/decode-body.js';
import { startPrivate, type PrivateService } from '../stack/private-services.js';
import {
  MemoryJournal,
  freshTopic,
  positionsOn,
  quietLog,
  relayOf,
  takenOf,
  upTo,
  writeEvents,
  writeValues,
} from './kafka-setting.js';

const decode = compileDecodeBody();
const running: { stop(): Promise<void> }[] = [];
let kafka: PrivateService;
beforeAll(async () => {
  kafka = await startPrivate('kafka');
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});
afterAll(() => kafka.remove());

/** A relay and a follower at work on a topic of their own, joined as in a server: what is sent here is not read back. */
const atWork = (settings: KafkaSettings, journal: MemoryJournal) => {
  const taken: number[] = [];
  const sink = (_partition: number, run: readonly StoredEvent[]): Promise<void> => {
    taken.push(...run.map(({ event }) => event.position));
    return Promise.resolve();
  };
  const { ledger, numbers: partitions } = journal;
  const relay: Relay = relayOf(settings, journal, {
    onSent: (partition, batch, baseOffset) => follower.sent(partition, batch, baseOffset),
  });
  const relayedTo = (partition: number): number | undefined => relay.relayedTo(partition);
  const parts = { settings, log: quietLog, ledger, partitions, decode, reader: journal, sink, relayedTo };
  const follower = new Follower({ ...parts, confirmTimeoutMs: 500 });
  running.push(relay, follower);
  relay.start();
  follower.start();
  return { relay, follower, taken };
};

const quick = async (): Promise<KafkaSettings> => ({
  ...(await freshTopic(1, [kafka.url])),
  connectTimeoutMs: 500,
  requestTimeoutMs: 400,
});

/** Brings the broker back at its address. While it was away, an outgoing connection of somebody's may have had its port. */
const back = async (): Promise<void> => {
  for (let attempt = 0; ; attempt++) {
    try {
      await kafka.restart();
      return;
    } catch (error) {
      if (attempt === 5) throw error;
      await sleep(500);
    }
  }
};

/** Appends a little, again and again, while something happens to the broker. */
const appendingWhile = async (journal: MemoryJournal, work: Promise<void>): Promise<void> => {
  const progress = { over: false };
  const end = (): void => void (progress.over = true);
  work.then(end, end);
  while (!progress.over) {
    journal.append(0, 3);
    await sleep(10);
  }
  await work;
};

/** Resolves when some more events have been followed. */
const more = (taken: readonly number[]): Promise<void> => {
  const before = taken.length;
  return vi.waitFor(() => expect(taken.length).toBeGreaterThan(before + 30), { timeout: 10_000 });
};

/** Everything is on Kafka and was followed, each position once and in order for whoever drops by position. */
const expectAllThere = async (
  settings: KafkaSettings,
  journal: MemoryJournal,
  taken: readonly number[],
): Promise<void> => {
  const [head] = await journal.heads();
  const last = head?.position ?? 0;
  await vi.waitFor(() => expect(taken.at(-1)).toBe(last), { timeout: 20_000 });
  expect(taken).toEqual(upTo(last));
  expect(takenOf(await positionsOn(settings, 0))).toEqual(upTo(last));
};

describe('a broker', () => {
  test(
    'that is stopped and comes back, whoever starts meanwhile: every position once, in order',
    { timeout: 90_000 },
    async () => {
      const settings = await quick();
      const journal = new MemoryJournal(1);
      const { taken, follower } = atWork(settings, journal);
      await follower.started();
      journal.append(0, 100);
      await vi.waitFor(() => expect(taken.at(-1)).toBe(100));
      await appendingWhile(journal, kafka.stop());
      const [stored] = journal.append(0, 1);
      await expect(follower.confirmed(0, stored?.event.position ?? 0, stored?.hash ?? '')).rejects.toMatchObject({
        code: 'replication_pending',
      });
      // Another process that starts while it is away waits for it, too.
      const late = atWork(settings, journal);
      await vi.waitFor(() => expect(late.relay.status()[0]?.why).toMatch(/^Kafka: /));
      expect(late.follower.status()[0]?.phase).toBe('starting');
      await appendingWhile(journal, back());
      await expectAllThere(settings, journal, taken);
      await late.follower.started();
      const next = journal.append(0, 1)[0]?.event.position;
      await vi.waitFor(() => expect(late.taken.at(-1)).toBe(next));
    },
  );

  test('that is killed under load: every position once, in order', { timeout: 90_000 }, async () => {
    const settings = await quick();
    const journal = new MemoryJournal(1);
    const { taken, follower } = atWork(settings, journal);
    await follower.started();
    await appendingWhile(journal, more(taken));
    await appendingWhile(journal, kafka.kill9());
    await appendingWhile(journal, back());
    await expectAllThere(settings, journal, taken);
  });

  test('that freezes, so that what was given up arrives later: every position first in order', async () => {
    const settings = await quick();
    const journal = new MemoryJournal(1);
    const { taken, relay, follower } = atWork(settings, journal);
    await follower.started();
    await appendingWhile(journal, more(taken));
    for (let round = 0; round < 3; round++) {
      kafka.pause();
      // A batch is under way, given up, and takes effect when the broker wakes.
      const givenUp = vi.waitFor(() => expect(relay.status()[0]?.why).toMatch(/timed out/), { timeout: 10_000 });
      await appendingWhile(journal, givenUp);
      kafka.resume();
      await appendingWhile(journal, more(taken));
    }
    await expectAllThere(settings, journal, taken);
  });

  test('in whose log somebody else writes: what was sent here and what was not, each once and in order', async () => {
    const settings = await quick();
    const journal = new MemoryJournal(1);
    const { taken, follower } = atWork(settings, journal);
    await follower.started();
    for (let round = 1; round <= 5; round++) {
      journal.append(0, 20);
      await vi.waitFor(() => expect(taken).toEqual(upTo(round * 40 - 20)));
      // As a relay would that believes it is still the one: some of it comes first, some repeats, and some is none of ours.
      const ahead = journal.append(0, 20);
      await writeEvents(settings, ahead);
      await writeValues(settings, 0, ['foreign']);
      await vi.waitFor(() => expect(taken).toEqual(upTo(round * 40)));
    }
    await expectAllThere(settings, journal, taken);
  });

  test('that does not answer keeps nobody from stopping within a second', async () => {
    const settings = { ...(await quick()), requestTimeoutMs: 30_000 };
    const journal = new MemoryJournal(1);
    const { taken, relay, follower } = atWork(settings, journal);
    await follower.started();
    journal.append(0, 10);
    await vi.waitFor(() => expect(taken).toEqual(upTo(10)));
    kafka.pause();
    try {
      relay.committed(0, journal.append(0, 1));
      await vi.waitFor(() => expect(relay.status()[0]?.lagSeconds).toBeGreaterThan(0.05));
      const began = performance.now();
      await Promise.all([relay.stop(), follower.stop()]);
      expect(performance.now() - began).toBeLessThan(1_000);
    } finally {
      kafka.resume();
    }
  });
});
