import { Redis } from 'ioredis';
import { ownCpuUs } from '../cpu.js';
import type { Subject } from '../drive.js';
import type { BenchSetting } from '../setting.js';

/**
 * What a reserve in Redis costs at the least: look, compare, move, remember. It knows no readiness, no idempotency, no
 * policy, no second account, and it compares as Lua numbers, which is wrong from 2^53 on.
 */
const RESERVE = `
local balance, holds = KEYS[1], KEYS[2]
local id, amount = ARGV[1], ARGV[2]
local available = redis.call('HGET', balance, 'available')
if not available then
  return 'missing'
end
if tonumber(available) < tonumber(amount) then
  return 'refused'
end
redis.call('HINCRBY', balance, 'available', '-' .. amount)
redis.call('HINCRBY', balance, 'held', amount)
redis.call('HSET', holds, id, amount)
return 'held'
`.trim();

export interface Bare {
  readonly subject: Subject;
  stop(): Promise<void>;
}

/** A script of fifteen lines by EVALSHA over one connection, as the ledger's is called. */
export const openEvalsha = async ({ config, meters }: BenchSetting, accounts: number): Promise<Bare> => {
  const redis = new Redis(config.redis.url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  await redis.connect();
  const sha = String(await redis.script('LOAD', RESERVE));
  const tag = `{${config.redis.keyPrefix}:bare}`;
  const keys = Array.from({ length: accounts }, (_unused, i) => `${tag}:${i}`);
  for (const key of keys) await redis.hset(key, 'available', '1000000000000000', 'held', '0');
  let calls = 0;
  return {
    subject: {
      name: 'bare EVALSHA, a reserve of 15 lines',
      eventsPerOperation: 1,
      meters: { node: ownCpuUs, ...(meters.redis === undefined ? {} : { redis: meters.redis }) },
      operation: async () => {
        const call = (calls += 1);
        const answer = await redis.evalsha(sha, 2, keys[call % accounts] ?? '', `${tag}:holds`, `r${call}`, '1000');
        if (answer !== 'held') throw new Error(`The script said ${String(answer)}.`);
      },
    },
    stop: async () => {
      await redis.unlink(...keys, `${tag}:holds`);
      redis.disconnect();
    },
  };
};
