/** A ledger with some history at rest, whose database, topic and Redis a test may hurt: each test gets copies of its own. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import pg from 'pg';
import { verifyWith } from '../../src/compose/verify.js';
import type { Config } from '../../src/config/settings.js';
import { partitionOf } from '../../src/core/partition.js';
import type { VerifyReport } from '../../src/recovery/verify.js';
import {
  LedgerUnderFault,
  administer,
  databaseOf,
  granted,
  newLedgerConfig,
  sharedServices,
  until,
} from '../faults/ledger-under-fault.js';
import { freshTopic, settingsFor, valuesOn, writeValues } from './kafka-setting.js';

/** The tenant that has the history. */
export const TENANT = 'acme';

/** Recharges, an adjustment, holds that are open, finalized, refunded, extended, cold, and raises of a model's max_cost. */
export const writeHistory = async (ledger: LedgerUnderFault, tenant = TENANT): Promise<void> => {
  const { ledger: commands } = ledger.holdfast;
  await ledger.openAccount(tenant, 1_000_000n);
  granted(await commands.openAccount({ account: `${tenant}/tokens`, unit: 'TOK', overdraftLimit: 500n, metadata: { team: 'blue', n: 1.5 } })); // prettier-ignore
  granted(await commands.adjust({ tenant, account: tenant, id: 'a1', amount: -5n, reason: 'a "gift", back' }));
  granted(await commands.setMaxCost({ model: 'm1', amounts: new Map([['USD', 9n]]) }));
  const by = (usd: bigint, tok: bigint) => ({ kind: 'by_unit', amounts: new Map([['USD', usd], ['TOK', tok]]) }) as const; // prettier-ignore
  for (let n = 0; n < 9; n += 1) {
    const [id, accounts] = [`${tenant}-${n}`, [tenant, `${tenant}/tokens`]];
    granted(await commands.reserve({ tenant, id, accounts, model: 'm1', amount: by(20n, 3n), metadata: { n } }));
    if (n % 3 === 0) granted(await commands.finalize({ tenant, id, amount: by(21n + BigInt(n), 2n) }));
    if (n % 3 === 1) granted(await commands.refund({ tenant, id, reason: 'failed' }));
  }
  granted(await commands.finalize({ tenant, id: 'cold', accounts: [tenant], amount: { kind: 'sole', amount: 4n }, model: 'm1' })); // prettier-ignore
  granted(await commands.finalize({ tenant, id: 'waits', accounts: [tenant], amount: { kind: 'sole', amount: 4_000n }, model: 'm1' })); // prettier-ignore
  granted(await commands.extend({ tenant, id: `${tenant}-2`, ttlSeconds: 1_200 }));
};

export class LedgerAtRest {
  private readonly databases: string[] = [];
  readonly redis: Redis;
  readonly partition: number;

  private constructor(
    readonly config: Config,
    private readonly keyPrefix: string,
    private readonly values: readonly (readonly string[])[],
  ) {
    this.redis = new Redis(config.redis.url);
    this.partition = partitionOf(TENANT, config.ledger.partitions);
  }

  /** Writes the history, waits until Kafka and Redis have it, and stops everything that would mend what a test breaks. */
  static async make(): Promise<LedgerAtRest> {
    const config = await newLedgerConfig(sharedServices());
    const ledger = await LedgerUnderFault.open(config);
    await ledger.redisReady();
    await writeHistory(ledger);
    await until('Kafka and Redis have everything', async () => {
      const { postgres, kafka, redis, events } = await ledger.verify();
      return postgres + kafka + redis === 0 && events > 0;
    });
    const { keyPrefix } = ledger;
    await ledger.close();
    const { brokers, topic } = config.kafka;
    const values: string[][] = [];
    for (let partition = 0; partition < config.ledger.partitions; partition += 1)
      values.push(await valuesOn(settingsFor(brokers, topic), partition));
    return new LedgerAtRest(config, keyPrefix, values);
  }

  /** The values of the tenant's partition on Kafka, oldest first. */
  get messages(): readonly string[] {
    return this.values[this.partition] ?? [];
  }

  key(name: string): string {
    return `{${this.keyPrefix}:${this.partition}}:${name}`;
  }

  /** The same ledger on a copy of its database, in which a superuser has run this SQL past the triggers, and more afterwards. */
  async withDatabase(sql: string, afterwards = ''): Promise<Config> {
    const copy = `verify_${randomBytes(5).toString('hex')}`;
    await administer(`create database ${copy} template ${databaseOf(this.config)}`);
    this.databases.push(copy);
    const url = new URL(this.config.postgres.url);
    url.pathname = `/${copy}`;
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    const all = (how: string): string =>
      ['events', 'postings']
        .flatMap((table) =>
          ['append_only', 'no_truncate'].map(
            (rule) => `alter table holdfast.${table} ${how} trigger ${table}_${rule};`,
          ),
        ) // prettier-ignore
        .join('');
    await client.query(`${all('disable')}${sql};${all('enable always')}${afterwards}`);
    await client.end();
    return { ...this.config, postgres: { ...this.config.postgres, url: url.href } };
  }

  /** The same ledger with another topic: the tenant's partition as given, the others as they were. */
  async withTopic(change: (messages: readonly string[]) => readonly string[]): Promise<Config> {
    const { brokers, topic } = await freshTopic(this.config.ledger.partitions, this.config.kafka.brokers);
    for (const [partition, values] of this.values.entries()) {
      const written = partition === this.partition ? change(values) : values;
      if (written.length > 0) await writeValues(settingsFor(brokers, topic), partition, written);
    }
    return { ...this.config, kafka: { ...this.config.kafka, topic } };
  }

  async drop(): Promise<void> {
    this.redis.disconnect();
    for (const database of [...this.databases, databaseOf(this.config)])
      await administer(`drop database if exists ${database} with (force)`);
  }
}

/** Verifies without anything that mends beside it, and without waiting for Kafka. */
export const verifyAtRest = async (config: Config, deep = false): Promise<VerifyReport> => {
  const ledger = await LedgerUnderFault.open(config, []);
  try {
    return await verifyWith(ledger.holdfast, () => undefined, { deep, catchUpMs: 0 });
  } finally {
    await ledger.close();
  }
};
