import { Redis } from 'ioredis';

const SCAN_COUNT = 1000;

/**
 * Empties a Redis, to show what happens then: FLUSHALL, or, with a key prefix, only the keys of the ledger that has it (a
 * server that others use too). Returns how many keys are gone. For a single server, not for a Cluster.
 */
export const emptyRedis = async (url: string, keyPrefix?: string): Promise<number> => {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  await redis.connect();
  try {
    if (keyPrefix !== undefined) return await unlinkAll(redis, `{${keyPrefix}:*`);
    const keys = await redis.dbsize();
    await redis.flushall();
    return keys;
  } finally {
    redis.disconnect();
  }
};

const unlinkAll = async (redis: Redis, pattern: string): Promise<number> => {
  let gone = 0;
  for (let cursor = '0'; ;) {
    const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT);
    if (keys.length > 0) gone += await redis.unlink(...keys);
    if (next === '0') return gone;
    cursor = next;
  }
};
