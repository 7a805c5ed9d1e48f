/** A ledger with history at rest, and ways to lose parts of it. */
import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';
import { restore } from '../../src/compose/restore.js';
import type { RestoreOptions, Restored } from '../../src/compose/restore.js';
import type { Config } from '../../src/config/settings.js';
import { createLogger } from '../../src/logging.js';
import { writeHistory } from '../integration/verify-setting.js';
import { LedgerUnderFault, administer, databaseOf, newLedgerConfig, sharedServices } from './ledger-under-fault.js';

/** Opens the ledger, does something, and stops it when Kafka has it all. */
export const during = async (config: Config, work: (ledger: LedgerUnderFault) => Promise<void>): Promise<void> => {
  const ledger = await LedgerUnderFault.open(config);
  try {
    await ledger.redisReady();
    await work(ledger);
    await ledger.settled();
  } finally {
    await ledger.close();
  }
};

/** A ledger with the history of several tenants. */
export const ledgerWithHistory = async (tenants: readonly string[]): Promise<Config> => {
  const config = await newLedgerConfig(sharedServices());
  await during(config, async (ledger) => {
    for (const tenant of tenants) await writeHistory(ledger, tenant);
  });
  return config;
};

export const loseDatabase = async (config: Config): Promise<void> => {
  await administer(`drop database ${databaseOf(config)} with (force)`);
  await administer(`create database ${databaseOf(config)}`);
};

export const runRestore = (config: Config, options: Pick<RestoreOptions, 'from'> & Partial<RestoreOptions>) =>
  restore(config, {
    dryRun: false,
    logger: createLogger({ level: 'silent' }),
    signal: new AbortController().signal,
    onProgress: () => undefined,
    ...options,
  });

export const eventsOf = ({ partitions }: Restored): number => partitions.reduce((sum, { events }) => sum + events, 0);

/** What Postgres itself sets, and what is no part of the log: when the tables were made, and which Redis holds what. */
const NOT_OF_THE_LOG = ['migrations', 'redis_epochs', 'api_keys'];

/** Every row of every table that is worked out from the log, as text. */
export const rowsOf = async (config: Config): Promise<Readonly<Record<string, readonly string[]>>> => {
  const client = new pg.Client({ connectionString: config.postgres.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'holdfast'::regnamespace and relkind = 'r' order by 1`,
    );
    const all: Record<string, readonly string[]> = {};
    for (const { name } of rows) {
      if (NOT_OF_THE_LOG.includes(name)) continue;
      const found = await client.query<{ row: string }>(
        `select (to_jsonb(t) - 'created_at')::text as row from holdfast.${name} t order by 1`,
      );
      all[name] = found.rows.map(({ row }) => row);
    }
    return all;
  } finally {
    await client.end();
  }
};

/** Does something with Kafka's administration. */
export const withKafka = async <T>(
  { kafka }: Config,
  work: (admin: ReturnType<Kafka['admin']>, topic: string) => Promise<T>,
): Promise<T> => {
  const admin = new Kafka({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await work(admin, kafka.topic);
  } finally {
    await admin.disconnect();
  }
};

/** Deletes the records of a partition below an offset. */
export const emptyPartition = (config: Config, partition: number, below: number): Promise<void> =>
  withKafka(config, async (admin, topic) => {
    // kafkajs forgets to look at the topic before it deletes records; this makes it look.
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: below.toString() }] });
  });
