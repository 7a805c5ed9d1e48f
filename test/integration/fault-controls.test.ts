import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { probeKafka, probePostgres, probeRedis } from '../../src/stack/probes.js';
import { startPrivate, type PrivateService } from '../stack/private-services.js';
import { startProxy, type FaultProxy } from '../stack/proxy.js';

function redisClient(url: string): Redis {
  const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0, lazyConnect: true });
  client.on('error', () => undefined);
  return client;
}

describe('a private Redis', () => {
  let redis: PrivateService;
  beforeAll(async () => {
    redis = await startPrivate('redis');
  });
  afterAll(() => redis.remove());

  test('keeps its data and address over kill -9 and a restart', async () => {
    const before = redisClient(redis.url);
    await before.set('kept', '1');
    await before.call('WAITAOF', '1', '0', '1000').catch(() => new Promise((resolve) => setTimeout(resolve, 1_200)));
    before.disconnect();
    const pid = redis.pid();
    await redis.kill9();
    await expect(probeRedis(redis.url)).rejects.toThrow();
    await redis.restart();
    expect(redis.pid()).not.toBe(pid);
    const after = redisClient(redis.url);
    expect(await after.get('kept')).toBe('1');
    expect(await after.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    after.disconnect();
  });

  test('does not answer while it is paused, and does afterwards', async () => {
    redis.pause();
    const client = new Redis(redis.url, { commandTimeout: 300, retryStrategy: () => null, enableReadyCheck: false });
    client.on('error', () => undefined);
    await expect(client.ping()).rejects.toThrow();
    client.disconnect();
    redis.resume();
    await probeRedis(redis.url);
  });
});

describe('a private PostgreSQL', () => {
  let postgres: PrivateService;
  beforeAll(async () => {
    postgres = await startPrivate('postgres');
  });
  afterAll(() => postgres.remove());

  test('keeps what was committed over kill -9 and a restart', async () => {
    const client = new pg.Client({ connectionString: postgres.url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)');
    const { rows } = await client.query<{ fsync: string }>('SHOW fsync');
    expect(rows).toEqual([{ fsync: 'on' }]);
    await postgres.kill9();
    await expect(client.query('SELECT 1')).rejects.toThrow();
    await postgres.restart();
    const again = new pg.Client({ connectionString: postgres.url });
    await again.connect();
    expect((await again.query('SELECT n FROM kept')).rows).toEqual([{ n: 7 }]);
    await again.end();
  });

  test('refuses a wrong password', async () => {
    const url = postgres.url.replace(/:[^:@]+@/, ':wrong@');
    await expect(probePostgres(url)).rejects.toThrow(/password/);
  });
});

describe('a private Kafka', () => {
  test('stops and comes back at the same address', async () => {
    const kafka = await startPrivate('kafka');
    try {
      await probeKafka(kafka.url);
      await kafka.stop();
      await expect(probeKafka(kafka.url)).rejects.toThrow();
      await kafka.restart();
      await probeKafka(kafka.url);
    } finally {
      await kafka.remove();
    }
  }, 120_000);
});

describe('the proxy', () => {
  let redis: PrivateService;
  let proxy: FaultProxy;
  beforeAll(async () => {
    redis = await startPrivate('redis');
    proxy = await startProxy(redis.url);
  });
  afterAll(async () => {
    await proxy.close();
    await redis.remove();
  });

  test('loses the reply of a request that has been carried out', async () => {
    const client = redisClient(proxy.through(redis.url));
    await client.connect();
    expect(await client.incr('counter')).toBe(1);
    const dropped = proxy.dropRepliesAfter((request) => request.includes('incr'));
    await expect(client.incr('counter')).rejects.toThrow();
    await dropped;
    const direct = redisClient(redis.url);
    expect(await direct.get('counter')).toBe('2');
    direct.disconnect();
  });

  test('counts requests when told a number', async () => {
    const client = redisClient(proxy.through(redis.url));
    await client.connect();
    const dropped = proxy.dropRepliesAfter(2);
    expect(await client.incr('numbered')).toBe(1);
    expect(await client.incr('numbered')).toBe(2);
    await expect(client.incr('numbered')).rejects.toThrow();
    await dropped;
  });

  test('cuts, refuses and accepts again', async () => {
    const url = proxy.through(redis.url);
    const client = redisClient(url);
    await client.connect();
    proxy.cut();
    await expect(client.ping()).rejects.toThrow();
    await probeRedis(url);
    await proxy.refuse();
    await expect(probeRedis(url)).rejects.toThrow(/ECONNREFUSED/);
    await proxy.accept();
    await probeRedis(url);
  });

  test('holds back what it passes', async () => {
    const client = redisClient(proxy.through(redis.url));
    await client.connect();
    proxy.delay(100);
    const started = performance.now();
    await client.ping();
    expect(performance.now() - started).toBeGreaterThan(180);
    proxy.delay(0);
    client.disconnect();
  });
});
