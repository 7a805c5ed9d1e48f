import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/settings.js';
import { LedgerUnderFault, NO_DRIFT, dropLedger, newLedgerConfig, sharedServices } from './ledger-under-fault.js';

/* Two databases are two ledgers, whatever else of the configuration is the same. */

const services = sharedServices();
let first: Config;
let second: Config;
beforeAll(async () => {
  first = await newLedgerConfig(services);
  const other = await newLedgerConfig(services);
  second = { ...other, redis: first.redis };
});
afterAll(async () => {
  await dropLedger(services, first);
  await dropLedger(services, second);
});

describe('two ledgers on one Redis, under one key prefix', () => {
  test('know nothing of each other: no answer, no balance and no epoch of the one comes from the other', async () => {
    const one = await LedgerUnderFault.open(first);
    await one.redisReady();
    await one.openAccount('acme', 1_000n);
    await one.reserve('acme', 'r1', 100n);
    const two = await LedgerUnderFault.open(second);
    try {
      await two.redisReady();
      expect(await two.reserve('acme', 'r1', 100n)).toMatchObject({
        ok: false,
        rejection: { code: 'account_not_found' },
      });
      await two.openAccount('acme', 150n);
      expect(await two.reserve('acme', 'r1', 100n)).toMatchObject({ ok: true, replay: false });
      expect(await two.reserve('acme', 'r2', 100n)).toMatchObject({ rejection: { code: 'insufficient_quota' } });
      expect(await one.reserve('acme', 'r1', 100n)).toMatchObject({ ok: true, replay: true });
      expect(await one.reserve('acme', 'r2', 100n)).toMatchObject({ ok: true, replay: false });
      await Promise.all([one.settled(), two.settled()]);
      expect(await one.verify()).toMatchObject(NO_DRIFT);
      expect(await two.verify()).toMatchObject(NO_DRIFT);
      expect([one.holdfast.fenced(), two.holdfast.fenced()]).toEqual([undefined, undefined]);
      await keysApart(one, two);
    } finally {
      await one.close();
      await two.close();
    }
  });
});

const keysApart = async (one: LedgerUnderFault, two: LedgerUnderFault): Promise<void> => {
  const redis = new Redis(first.redis.url);
  const [ofOne, ofTwo] = await Promise.all([one, two].map(({ keyPrefix }) => redis.keys(`{${keyPrefix}:*`)));
  const all = await redis.keys(`{${first.redis.keyPrefix}:*`);
  redis.disconnect();
  expect(all.length).toBe((ofOne?.length ?? 0) + (ofTwo?.length ?? 0));
  expect(Math.min(ofOne?.length ?? 0, ofTwo?.length ?? 0)).toBeGreaterThan(0);
};
