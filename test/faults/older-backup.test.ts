import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runProgram } from './built-program.js';
import {
  LedgerUnderFault,
  administer,
  databaseOf,
  dropLedger,
  newLedgerConfig,
  sharedServices,
} from './ledger-under-fault.js';
import type { Config } from '../../src/config/settings.js';

const services = sharedServices();
let config: Config;
beforeAll(async () => {
  config = await newLedgerConfig(services);
});
afterAll(() => dropLedger(services, config));

describe('Postgres put back from an older backup, while Kafka and Redis have seen more', () => {
  test('is not written to by a new process either: it says why, and resuming is refused while Kafka is ahead', async () => {
    let ledger = await LedgerUnderFault.open(config);
    await ledger.redisReady();
    await ledger.openAccount('acme', 1_000n);
    await ledger.reserve('acme', 'before', 10n);
    await ledger.settled();
    await ledger.close();
    await administer(`create database ${databaseOf(config)}_kept template ${databaseOf(config)}`);

    ledger = await LedgerUnderFault.open(config);
    await ledger.redisReady();
    for (let i = 0; i < 20; i++) await ledger.reserve('acme', `after-${i.toString()}`, 10n);
    await ledger.settled();
    await ledger.close();
    await administer(`drop database ${databaseOf(config)} with (force)`);
    await administer(`alter database ${databaseOf(config)}_kept rename to ${databaseOf(config)}`);

    ledger = await LedgerUnderFault.open(config);
    try {
      expect(ledger.holdfast.fenced()).toMatch(
        /^(Kafka|Redis) has seen position 23 of partition \d, and the journal ends at 3$/,
      );
      // Redis knows it, and the journal does not: it was acknowledged, and yet it is no answer of this log's.
      await expect(ledger.reserve('acme', 'after-7', 10n)).rejects.toMatchObject({ code: 'journal_fenced' });
      await expect(ledger.finalize('acme', 'before', 5n)).rejects.toMatchObject({ code: 'journal_fenced' });
      await expect(ledger.reserve('acme', 'new', 10n)).rejects.toMatchObject({ code: 'journal_fenced' });
      await expect(ledger.holdfast.resume({ withoutKafka: false })).rejects.toThrow(
        /Kafka has seen position 23 .*Nothing was changed\. Fill the journal first: holdfast restore --from kafka/,
      );
      expect(await ledger.balance('acme')).toMatchObject({ available: 990n, held: 10n });
    } finally {
      await ledger.close();
    }
  });

  test('resumed without Kafka and without Redis, it says that nobody was asked', () => {
    const redis = { ...config.redis, url: 'redis://127.0.0.1:1' };
    const blind = runProgram({ ...config, redis }, 'resume', '--without-kafka');
    expect(blind.status).toBe(0);
    expect(blind.stdout).toContain('Nothing was seen that had closed the journal');
    expect(blind.stdout).toMatch(
      /Nothing that could be asked has seen more than the journal\. Not asked: Kafka and 4 partitions of Redis\. What only they had is given up/,
    );
    const seeing = runProgram(config, 'resume', '--without-kafka', '--json');
    expect(JSON.parse(seeing.stdout)).toMatchObject({
      from: 2,
      incarnation: 3,
      lost: { events: 20 },
      not_asked: { kafka: true, redis_partitions: 0 },
    });
  });
});
