import { Redis } from 'ioredis';
import type { RedisFacts, RedisPartitionFacts } from '../core/doctor-facts.js';
import { readCheckpoint } from './balances.js';
import { partitionKeys } from './keys.js';
import { infoFields, isCluster } from './server-info.js';
import { DEFAULT_REDIS_SETTINGS, addressText, entryOf } from './settings.js';
import type { Address, Entry, RedisSettings } from './settings.js';
import { sharesOf } from './slots.js';

const TIMEOUT_MS = 3000;

/** Asks one server; it is left again whatever comes. Raises what the client library raises. */
const asking = async <T>(entry: Entry, address: Address, ask: (redis: Redis) => Promise<T>): Promise<T> => {
  const redis = new Redis({
    ...entry.options,
    ...address,
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    connectionName: 'holdfast doctor',
  });
  let socketError: Error | undefined;
  redis.on('error', (error) => (socketError = error));
  try {
    await redis.connect();
    return await ask(redis);
  } catch (error) {
    throw socketError ?? error;
  } finally {
    redis.disconnect();
  }
};

/**
 * Looks at Redis and changes nothing: no epoch is written, no script is loaded, and a Redis that must not be used (it evicts, it is no
 * master) is looked at like any other. Raises RedisSettingError for an address that can't be read, else what the client raises.
 */
export const inspectRedis = async (
  given: Pick<RedisSettings, 'url'> & Partial<RedisSettings>,
  partitions: number,
): Promise<RedisFacts> => {
  const settings = { ...DEFAULT_REDIS_SETTINGS, ...given };
  const entry = entryOf(settings);
  const keys = Array.from({ length: partitions }, (_, partition) => partitionKeys(settings.keyPrefix, partition));
  const [seed] = entry.seeds;
  const shares = await asking(entry, seed, async (redis) => {
    const fields = infoFields(await redis.info());
    if (!isCluster(fields)) return [{ address: seed, partitions: keys.map((_, partition) => partition) }];
    return sharesOf(await redis.cluster('SLOTS'), seed, keys);
  });
  const found = await Promise.all(
    shares.map(({ address, partitions: served }) =>
      asking(entry, address, async (redis) => {
        const fields = infoFields(await redis.info());
        const server = {
          address: addressText(address),
          role: fields.get('role') ?? 'unknown',
          policy: fields.get('maxmemory_policy') ?? 'unknown',
        };
        return { server, facts: await Promise.all(served.map((partition) => factsOf(redis, partition, keys[partition]?.meta ?? ''))) }; // prettier-ignore
      }),
    ),
  );
  return { servers: found.map(({ server }) => server), partitions: found.flatMap(({ facts }) => facts) };
};

const factsOf = async (redis: Redis, partition: number, meta: string): Promise<RedisPartitionFacts> => {
  const known = await redis.hmget(meta, 'cp', 'h', 'inc', 'epoch', 'ready', 'rb');
  const checkpoint = readCheckpoint(partition, known);
  const [, , , epoch, ready, token] = known;
  const rebuilding = typeof token === 'string';
  return {
    partition,
    ...(checkpoint === undefined ? {} : { checkpoint }),
    rebuilding,
    ready: checkpoint !== undefined && !rebuilding && epoch !== null && epoch === ready,
  };
};
