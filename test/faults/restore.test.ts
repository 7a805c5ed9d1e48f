import { afterEach, describe, expect, test } from 'vitest';
import { migrateDatabase } from '../../src/compose.js';
import type { Config } from '../../src/config/settings.js';
import { partitionOf } from '../../src/core/partition.js';
import { settingsFor, valuesOn, writeValues } from '../integration/kafka-setting.js';
import { verifyAtRest } from '../integration/verify-setting.js';
import { NO_DRIFT, dropLedger, granted, sharedServices, administer, databaseOf } from './ledger-under-fault.js';
import {
  during,
  emptyPartition,
  eventsOf,
  ledgerWithHistory,
  loseDatabase,
  rowsOf,
  runRestore,
  withKafka,
} from './restore-setting.js';

const made: Config[] = [];
afterEach(async () => {
  for (const config of made.splice(0)) await dropLedger(sharedServices(), config);
});
const ledger = async (): Promise<Config> => {
  const config = await ledgerWithHistory(['acme', 'blue', 'cyan']);
  made.push(config);
  return config;
};
const topicOf = ({ kafka }: Config) => settingsFor(kafka.brokers, kafka.topic);
const PARTITION = partitionOf('acme', 4);

describe('Postgres lost, and restored from Kafka', () => {
  test('wholly: every row is as it was, nothing drifts, and the same ids get the same answers', async () => {
    const config = await ledger();
    const before = await rowsOf(config);
    await loseDatabase(config);
    await migrateDatabase(config);
    const wish = await runRestore(config, { from: 'kafka', dryRun: true });
    expect(wish.adopted).toBe(true);
    expect(eventsOf(wish)).toBe(before['events']?.length);
    expect((await rowsOf(config))['events']).toEqual([]);
    expect(eventsOf(await runRestore(config, { from: 'kafka' }))).toBe(before['events']?.length);
    expect(await rowsOf(config)).toEqual(before);
    await during(config, async (restored) => {
      const again = granted(
        await restored.holdfast.ledger.finalize({
          tenant: 'acme',
          id: 'cold',
          accounts: ['acme'],
          amount: { kind: 'sole', amount: 4n },
          model: 'm1',
        }),
      );
      expect(again.replay).toBe(true);
      granted(await restored.reserve('blue', 'new', 5n));
    });
    expect(await verifyAtRest(config, true)).toMatchObject(NO_DRIFT);
  });

  test('to an older backup: filled up from its heads; one partition, then the rest; the third time nothing is left', async () => {
    const config = await ledger();
    const name = databaseOf(config);
    await administer(`create database ${name}_old template ${name}`);
    await during(config, async (running) => {
      for (let n = 0; n < 30; n++) granted(await running.reserve('acme', `late-${n.toString()}`, 1n));
      for (let n = 0; n < 30; n++) granted(await running.reserve('blue', `late-${n.toString()}`, 1n));
      granted(await running.finalize('acme', 'late-3', 2n));
    });
    const before = await rowsOf(config);
    await administer(`drop database ${name} with (force)`);
    await administer(`alter database ${name}_old rename to ${name}`);
    const cut = await runRestore(config, { from: 'kafka', partition: PARTITION });
    expect(eventsOf(cut)).toBeGreaterThanOrEqual(31);
    await runRestore(config, { from: 'kafka' });
    expect(await rowsOf(config)).toEqual(before);
    expect(eventsOf(await runRestore(config, { from: 'kafka' }))).toBe(0);
  });

  test('is refused with nothing written: a gap, and another ledger than the database has', async () => {
    const config = await ledger();
    const values = await valuesOn(topicOf(config), PARTITION);
    const other = await ledger();
    const before = await rowsOf(other);
    await expect(runRestore({ ...other, kafka: config.kafka }, { from: 'kafka' })).rejects.toThrow(
      /holds the ledger .* and the database has events of/,
    );
    expect(await rowsOf(other)).toEqual(before);

    await loseDatabase(config);
    await migrateDatabase(config);
    const empty = await rowsOf(config);
    await emptyPartition(config, PARTITION, values.length);
    await writeValues(topicOf(config), PARTITION, [...values.slice(0, 3), ...values.slice(4)]);
    await expect(runRestore(config, { from: 'kafka' })).rejects.toThrow(/position 4 is missing there: a gap/);
    expect(await rowsOf(config)).toEqual(empty);
  });

  test('passes over what is foreign, doubled, or out of order and sent again', async () => {
    const config = await ledger();
    const before = await rowsOf(config);
    const values = await valuesOn(topicOf(config), PARTITION);
    await emptyPartition(config, PARTITION, values.length);
    const odd = ['junk', ...values.slice(0, 4), values[7] ?? '', '{}', ...values.slice(2)];
    await writeValues(topicOf(config), PARTITION, odd);
    await loseDatabase(config);
    await migrateDatabase(config);
    await runRestore(config, { from: 'kafka' });
    expect(await rowsOf(config)).toEqual(before);
  });
});

describe('the topic lost, and filled from Postgres', () => {
  test('emptied, with junk between, and deleted: a consumer gets every position once and in order', async () => {
    const config = await ledger();
    const values = await valuesOn(topicOf(config), PARTITION);
    expect(eventsOf(await runRestore(config, { from: 'postgres' }))).toBe(0);
    await emptyPartition(config, PARTITION, values.length);
    await writeValues(topicOf(config), PARTITION, ['junk', ...values.slice(0, 5), 'junk', ...values.slice(6, 9)]);
    const wish = await runRestore(config, { from: 'postgres', dryRun: true });
    expect(wish.partitions[PARTITION]).toEqual({ partition: PARTITION, from: 5, events: values.length - 5 });
    await runRestore(config, { from: 'postgres' });
    expect(eventsOf(await runRestore(config, { from: 'postgres', dryRun: true }))).toBe(0);
    const sent = await valuesOn(topicOf(config), PARTITION);
    expect(sent.slice(-(values.length - 5))).toEqual(values.slice(5));

    await withKafka(config, (admin, topic) => admin.deleteTopics({ topics: [topic] }));
    await runRestore(config, { from: 'postgres' });
    expect(await valuesOn(topicOf(config), PARTITION)).toEqual(values);
    expect(await verifyAtRest(config)).toMatchObject({ postgres: 0, kafka: 0 });
  });

  test('is refused when the journal is behind it', async () => {
    const config = await ledger();
    await loseDatabase(config);
    await migrateDatabase(config);
    await runRestore(config, { from: 'kafka', partition: PARTITION });
    await expect(runRestore(config, { from: 'postgres' })).rejects.toThrow(/the journal ends before it/);
  });
});
