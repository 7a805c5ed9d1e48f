import { Redis } from 'ioredis';
import type { Contender, RaceSize } from './race.js';

export interface Baseline extends Contender {
  stop(): Promise<void>;
}

/**
 * What is often built first: GET the balance, look at it, DECRBY. Two trips, and between them others do the same, so
 * that several take the last unit.
 */
export const openBaseline = async (url: string, keyPrefix: string, size: RaceSize): Promise<Baseline> => {
  const connections = Array.from(
    { length: size.connections },
    () => new Redis(url, { lazyConnect: true, retryStrategy: () => null }),
  );
  // Who waits for an answer learns of a lost connection there.
  for (const redis of connections) redis.on('error', () => undefined);
  await Promise.all(connections.map((redis) => redis.connect()));
  const keyOf = (tenant: number): string => `{${keyPrefix}}:get:${tenant}`;
  const [first] = connections;
  if (first === undefined) throw new Error('A race needs a connection.');
  for (let tenant = 0; tenant < size.tenants; tenant++) await first.set(keyOf(tenant), size.balance.toString());
  return {
    name: 'GET, then DECRBY',
    reserve: async (connection, tenant) => {
      const redis = connections[connection];
      if (redis === undefined) return 'unclear';
      const key = keyOf(tenant);
      if (Number(await redis.get(key)) < 1) return 'refused';
      await redis.decrby(key, 1);
      return 'granted';
    },
    stop: async () => {
      await Promise.all(connections.map((redis) => redis.quit()));
    },
  };
};

/** Removes what a race left in Redis. */
export const removeKeys = async (url: string, keyPrefix: string): Promise<void> => {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  await redis.connect();
  for (let cursor = '0'; ;) {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `{${keyPrefix}*`, 'COUNT', 1_000);
    if (keys.length > 0) await redis.unlink(...keys);
    if (next === '0') break;
    cursor = next;
  }
  await redis.quit();
};
