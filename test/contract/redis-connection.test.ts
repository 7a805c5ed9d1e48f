import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { UnavailableError } from '../../src/core/ports.js';
import type { EpochRegistry } from '../../src/core/ports.js';
import { openRedis, RedisSettingError } from '../../src/redis/index.js';
import { EpochsInMemory } from '../lua/epochs-in-memory.js';
import { funded, openHarness, PARTITION, reserveOf, sole } from '../lua/harness.js';
import type { Harness } from '../lua/harness.js';
import { startPrivate } from '../stack/private-services.js';
import type { PrivateService } from '../stack/private-services.js';
import { startProxy } from '../stack/proxy.js';
import type { FaultProxy } from '../stack/proxy.js';

let server: PrivateService;
let proxy: FaultProxy;
let h: Harness;
beforeAll(async () => {
  server = await startPrivate('redis');
  proxy = await startProxy(server.url);
});
afterAll(async () => {
  await proxy.close();
  await server.remove();
});
beforeEach(async () => {
  await proxy.accept();
  proxy.delay(0);
  h = await openHarness({ url: proxy.through(server.url), rawUrl: server.url, timeoutMs: 500, recheckMs: 100 });
  h.decide(...funded('acme', 200n));
  await h.rebuild();
});
afterEach(() => h.close());

const hold = (id: string) => h.side.holds.hold(PARTITION, reserveOf(id, { requested: sole(65n) }));
const available = async () => (await h.sample()).accounts.get('acme')?.available;
const reachable = () => h.side.isReachable(PARTITION);
const epochNow = () => h.epochs.rows.get(PARTITION)?.epoch;
const isHold = (request: Buffer): boolean => request.includes('acme/r1');

describe('a reply that is lost after the script ran', () => {
  test('leaves the outcome unknown, and the same id again is held once', async () => {
    const lost = proxy.dropRepliesAfter(isHold);
    const outcome = await hold('r1');
    await lost;
    expect(outcome).toMatchObject({ kind: 'unknown' });
    await expect.poll(reachable).toBe(true);
    expect(await available()).toBe(135n);
    expect(await hold('r1')).toMatchObject({ kind: 'held', amounts: new Map([['USD', 65n]]) });
    expect(await available()).toBe(135n);
  });

  test('is given back by its own attempt once the journal has refused it', async () => {
    const lost = proxy.dropRepliesAfter(isHold);
    const outcome = await hold('r1');
    await lost;
    await expect.poll(reachable).toBe(true);
    if (outcome.kind !== 'unknown') throw new Error(`The hold came to ${outcome.kind}.`);
    await h.side.holds.release(PARTITION, 'acme', 'r1', outcome.attempt);
    expect(await available()).toBe(200n);
  });

  test('of an apply: the events count once', async () => {
    h.decide(reserveOf('r1', { requested: sole(65n) }));
    const lost = proxy.dropRepliesAfter(isHold);
    expect(await h.apply()).toMatchObject({ kind: 'unreachable' });
    await lost;
    await expect.poll(reachable).toBe(true);
    expect(await h.side.balances.apply(PARTITION, 1, h.log.after(2))).toEqual({ kind: 'applied', checkpoint: 3 });
    expect(await available()).toBe(135n);
  });
});

describe('a Redis that is away', () => {
  test('refused: holds go to the journal at once, and come back by themselves', async () => {
    await proxy.refuse();
    await expect.poll(reachable).toBe(false);
    expect(await hold('r1')).toMatchObject({ kind: 'ask_journal', why: 'unreachable' });
    expect(await h.side.balances.apply(PARTITION, 1, h.log.events)).toMatchObject({ kind: 'unreachable' });
    expect(await h.side.readiness.info([PARTITION])).toEqual(new Map());
    expect(await h.side.orphans.orphans(PARTITION, 5)).toEqual([]);
    await expect(h.side.rebuild.begin(PARTITION)).rejects.toMatchObject({ reason: 'unreachable' });
    await proxy.accept();
    await expect.poll(reachable).toBe(true);
    expect(await hold('r1')).toMatchObject({ kind: 'held' });
  });

  test('frozen: a hold waits its time, the next ones not at all', async () => {
    server.pause();
    try {
      const began = performance.now();
      expect(await hold('r1')).toMatchObject({ kind: 'unknown' });
      expect(performance.now() - began).toBeLessThan(2000);
      expect(await hold('r2')).toMatchObject({ kind: 'ask_journal', why: 'unreachable' });
    } finally {
      server.resume();
    }
    await expect.poll(reachable).toBe(true);
    expect(await hold('r3')).toMatchObject({ kind: 'held' });
  });

  test('a hold that arrives after its deadline does nothing', async () => {
    proxy.delay(700);
    expect(await hold('r1')).toMatchObject({ kind: 'unknown' });
    proxy.delay(0);
    await expect.poll(reachable).toBe(true);
    expect((await h.sample()).speculations).toEqual([]);
  });
});

describe('a connection is used only after its server was compared with Postgres', () => {
  test('given the same server, when the connection breaks, then its epoch stays', async () => {
    const asked = h.epochs.asked;
    proxy.cut();
    await expect.poll(() => h.epochs.asked).toBeGreaterThan(asked);
    await expect.poll(reachable).toBe(true);
    expect(epochNow()).toBe(1);
    expect(await hold('r1')).toMatchObject({ kind: 'held' });
  });

  test('given that it was started again, then its epoch is raised, and it is not ready until it is made so', async () => {
    await server.restart();
    await expect.poll(epochNow).toBe(2);
    await expect.poll(reachable).toBe(true);
    expect(await hold('r1')).toEqual({ kind: 'ask_journal', why: 'not_ready' });
    expect(await h.side.readiness.ready(PARTITION, 2)).toBe('ready');
    expect(await hold('r1')).toMatchObject({ kind: 'held' });
  });

  test('given a Redis that knows a higher epoch than Postgres (a new database), then a higher one still is agreed on', async () => {
    await h.raw.hset(h.keys.meta, 'epoch', '41', 'ready', '41');
    proxy.cut();
    await expect.poll(epochNow).toBe(42);
    await expect.poll(reachable).toBe(true);
    expect(await hold('r1')).toEqual({ kind: 'ask_journal', why: 'not_ready' });
    expect(await h.side.readiness.ready(PARTITION, 2)).toBe('ready');
    expect(await hold('r1')).toMatchObject({ kind: 'held' });
  });

  test('given that Postgres can’t be asked, then no script is sent', async () => {
    const away: EpochRegistry = {
      confirm: () => Promise.reject(new UnavailableError('journal_unavailable', 'Postgres is away.')),
      raiseTo: () => Promise.reject(new UnavailableError('journal_unavailable', 'Postgres is away.')),
    };
    const side = await openRedis({ settings: { url: server.url, keyPrefix: 'away' }, partitions: 1, epochs: away });
    expect(side.isReachable(0)).toBe(false);
    expect(await side.holds.hold(0, reserveOf('r1'))).toEqual({ kind: 'ask_journal', why: 'unreachable' });
    expect(await h.raw.keys('{away:*')).toEqual([]);
    await side.stop();
  });

  test('given that it was a replica for a moment between two looks, then its epoch is raised', async () => {
    await h.raw.call('REPLICAOF', '127.0.0.1', '1');
    await h.raw.call('REPLICAOF', 'NO', 'ONE');
    await expect.poll(epochNow).toBe(2);
  });
});

describe('a Redis that is set up wrongly', () => {
  test('is refused at start when it evicts, with the setting to change', async () => {
    await h.raw.config('SET', 'maxmemory-policy', 'allkeys-lru');
    try {
      const opening = openRedis({ settings: { url: server.url }, partitions: 1, epochs: new EpochsInMemory() });
      await expect(opening).rejects.toMatchObject({ name: 'RedisSettingError', setting: 'maxmemory-policy' });
    } finally {
      await h.raw.config('SET', 'maxmemory-policy', 'noeviction');
    }
  });

  test.each(['http://x', 'redis://', 'localhost:6379', '', 'redis://h/x'])(
    'is refused by its address "%s"',
    async (url) => {
      const opening = openRedis({ settings: { url }, partitions: 1, epochs: new EpochsInMemory() });
      await expect(opening).rejects.toThrow(RedisSettingError);
    },
  );

  test('is not used with a wrong password, which no notice repeats', async () => {
    const notices: unknown[] = [];
    const url = `redis://:hunter2@127.0.0.1:${server.port.toString()}`;
    const side = await openRedis({
      settings: { url },
      partitions: 1,
      epochs: new EpochsInMemory(),
      onNotice: (n) => notices.push(n),
    });
    expect(side.isReachable(0)).toBe(false);
    expect(notices).toMatchObject([{ kind: 'unusable' }]);
    expect(JSON.stringify(notices)).not.toContain('hunter2');
    await side.stop();
  });

  test('out of memory refuses a hold and an apply as a whole', async () => {
    h.decide(reserveOf('r2', { requested: sole(65n) }));
    await h.raw.config('SET', 'maxmemory', '1');
    try {
      expect(await hold('r1')).toEqual({ kind: 'ask_journal', why: 'unreachable' });
      expect(await h.side.balances.apply(PARTITION, 1, h.log.after(2))).toEqual({
        kind: 'unreachable',
        why: 'refused',
      });
    } finally {
      await h.raw.config('SET', 'maxmemory', '0');
    }
    await expect.poll(reachable).toBe(true);
    expect(await available()).toBe(200n);
    expect((await h.apply()).kind).toBe('applied');
    expect(await available()).toBe(135n);
  });
});

test('a server turned into a replica is left, and found again as a master', async () => {
  const raw = new Redis(server.url);
  await raw.call('REPLICAOF', '127.0.0.1', '1');
  await expect.poll(reachable).toBe(false);
  expect(await hold('r1')).toMatchObject({ kind: 'ask_journal' });
  await raw.call('REPLICAOF', 'NO', 'ONE');
  await expect.poll(reachable, { timeout: 5000 }).toBe(true);
  expect(epochNow()).toBe(2);
  raw.disconnect();
});
