/** The demo as a user starts it, on services that others use too. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { describe, expect, inject, test } from 'vitest';

const runDemo = async (...args: readonly string[]): Promise<{ out: string; exitCode: number | null }> => {
  const child = spawn(process.execPath, ['dist/src/cli/main.js', 'demo', ...args], {
    env: {
      ...process.env,
      HOLDFAST_POSTGRES_URL: inject('postgresUrl'),
      HOLDFAST_REDIS_URL: inject('redisUrl'),
      HOLDFAST_KAFKA_BROKERS: inject('kafkaBrokers').join(','),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  await once(child, 'close');
  return { out, exitCode: child.exitCode };
};

describe('the demo', () => {
  test('counts no overspend and no drift, also after it has emptied Redis; what others keep there stays', async () => {
    const redis = new Redis(inject('redisUrl'));
    await redis.set('not-the-demo’s', 'kept');
    const { out, exitCode } = await runDemo('--requests', '600', '--accounts', '60');
    expect(out.trim().split('\n').at(-1)).toBe('overspends 0, drift 0');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/Redis is empty: [1-9]\d* keys are gone/);
    expect(out).toMatch(/Redis answers for 64 of 64 partitions/);
    expect(out).toMatch(/Meanwhile 150 requests were played; without an answer: 0\./);
    expect(await redis.get('not-the-demo’s')).toBe('kept');
    await redis.del('not-the-demo’s');
    redis.disconnect();
  }, 240_000);
});
