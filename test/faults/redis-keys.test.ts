import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { digestHoldfast } from '../../src/compose/digest.js';
import type { DigestSource } from '../../src/compose/digest.js';
import { partitionOf } from '../../src/core/partition.js';
import { LedgerUnderFault, NO_DRIFT, dropLedger, granted, newLedgerConfig, sharedServices, until } from './ledger-under-fault.js'; // prettier-ignore

/*
 * Whichever key of a partition is lost, Redis has everything again by itself: what it has wrong is seen by comparing, what
 * it lacks wholly by counting.
 */

let ledger: LedgerUnderFault;
let redis: Redis;
let partition: number;
const key = (name: string): string => `{${ledger.keyPrefix}:${partition}}:${name}`;

beforeAll(async () => {
  ledger = await LedgerUnderFault.open(await newLedgerConfig(sharedServices()));
  redis = new Redis(ledger.config.redis.url);
  partition = partitionOf('acme', ledger.holdfast.identity.partitions);
  await ledger.openAccount('acme', 100_000n);
  granted(await ledger.holdfast.ledger.openAccount({ account: 'acme/team', unit: 'USD', overdraftLimit: 50n }));
  granted(await ledger.holdfast.ledger.setMaxCost({ model: 'm1', amounts: new Map([['USD', 9n]]) }));
  for (let n = 0; n < 6; n += 1) {
    granted(await ledger.reserve('acme', `r${n}`, 10n));
    if (n % 2 === 0) granted(await ledger.finalize('acme', `r${n}`, 7n));
  }
  await ledger.redisReady();
  await whole();
});
afterAll(async () => {
  redis.disconnect();
  await ledger.close();
  await dropLedger(sharedServices(), ledger.config);
});

const digest = async (from: DigestSource): Promise<string | undefined> => {
  const found = await digestHoldfast(ledger.holdfast, { from, partitions: [partition], onPartition: () => undefined });
  return found.partitions[0]?.digest;
};

/** Everything that Redis should know is there: balances and open holds as in Postgres, and every key. */
const whole = (): Promise<void> =>
  until('Redis is whole again', async () => {
    const keys = ['meta', 'a', 'a:acme', 'a:acme/team', 'holds', 'closed', 'models'].map(key);
    if ((await redis.exists(...keys)) !== keys.length || (await redis.scard(key('a'))) !== 2) return false;
    return (await digest('redis').catch(() => 'none')) === (await digest('postgres'));
  });

/** A hold that is under way: its answer has not come, and its event is not written. */
const speculate = async (id: string): Promise<void> => {
  const outcome = await ledger.holdfast.redis.holds.hold(partition, {
    kind: 'reserve',
    tenant: 'acme',
    id,
    accounts: ['acme'],
    requested: { kind: 'sole', amount: 9n },
    policy: 'caller',
    ttlSeconds: 60,
    level: 'durable',
  });
  expect(outcome.kind).toBe('held');
};

const losses: readonly (readonly [what: string, lose: () => Promise<unknown>])[] = [
  ['meta', () => redis.del(key('meta'))],
  ['the set of accounts', () => redis.del(key('a'))],
  ['an account', () => redis.del(key('a:acme'))],
  ['an account and its name', () => redis.multi().del(key('a:acme/team')).srem(key('a'), 'acme/team').exec()],
  ['a name among the accounts', () => redis.srem(key('a'), 'acme')],
  ['the speculations, with one under way', () => redis.del(key('spec'))],
  ['the records of reservations', () => redis.del(key('holds'))],
  ['the record of one that is open', () => redis.hdel(key('holds'), 'acme/r1')],
  ['the order of closings', () => redis.del(key('closed'))],
  ['the copies of max_cost', () => redis.del(key('models'))],
];

test.each(losses)('%s: lost, and right again alone', async (what, lose) => {
  await ledger.redisReady();
  if (what.startsWith('the speculations')) await speculate(`lost with ${what.length}`.replaceAll(' ', '-'));
  await lose();
  await whole();
  await ledger.redisReady();
  expect(await ledger.verify()).toMatchObject(NO_DRIFT);
  expect(await ledger.balance('acme')).toMatchObject({ available: 100_000n - 51n, held: 30n, used: 21n });
});

test('lost one after the other under traffic: every reserve is granted, and nothing differs afterwards', async () => {
  let over = false;
  const traffic = Array.from({ length: 4 }, async (_, lane) => {
    for (let n = 0; !over; n += 1) {
      const id = `t${lane}-${n}`;
      expect((await ledger.reserve('acme', id, 2n)).ok).toBe(true);
      if (n % 4 !== 0) expect((await ledger.finalize('acme', id, 1n)).ok).toBe(true);
      else expect((await ledger.holdfast.ledger.refund({ tenant: 'acme', id, reason: 'failed' })).ok).toBe(true);
    }
  });
  for (const [, lose] of losses) await lose();
  over = true;
  await Promise.all(traffic);
  await whole();
  expect(await ledger.verify()).toMatchObject(NO_DRIFT);
});
