/** A whole ledger in this process over real services, some of which a test hurts. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { migrateDatabase, openHoldfast } from '../../src/compose.js';
import type { Holdfast } from '../../src/compose.js';
import { configFrom } from '../../src/config/load.js';
import type { Config, Role } from '../../src/config/settings.js';
import { createLogger } from '../../src/logging.js';
import { ledgerKeyPrefix } from '../../src/redis/index.js';
import type { VerifyReport } from '../../src/recovery/verify.js';
import type { Result } from '../../src/service/ledger.js';
import { allPartitions } from '../../src/core/partition.js';

const PARTITIONS = 4;
const PATIENCE_MS = 30_000;

export interface Services {
  readonly postgresUrl: string;
  readonly redisUrl: string;
  readonly kafkaBrokers: readonly string[];
}

export const sharedServices = (): Services => ({
  postgresUrl: inject('postgresUrl'),
  redisUrl: inject('redisUrl'),
  kafkaBrokers: inject('kafkaBrokers'),
});

/** Runs SQL as the superuser, outside any ledger's database. */
export const administer = async (sql: string, { postgresUrl } = sharedServices()): Promise<void> => {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
};

export const databaseOf = ({ postgres }: Config): string => new URL(postgres.url).pathname.slice(1);

/** The configuration of a ledger of its own: another database, topic and key prefix. Its database is made. */
export const newLedgerConfig = async (services: Services): Promise<Config> => {
  const run = randomBytes(5).toString('hex');
  await administer(`create database fault_${run}`, services);
  const url = new URL(services.postgresUrl);
  url.pathname = `/fault_${run}`;
  return configFrom({
    ledger: { partitions: PARTITIONS },
    postgres: { url: url.href },
    redis: { url: services.redisUrl, keyPrefix: `fault-${run}` },
    kafka: { brokers: services.kafkaBrokers, topic: `fault.${run}`, confirmTimeoutMs: 2000 },
    service: { sweepMs: 200, healMs: 100 },
    http: { port: 0 },
  });
};

export const dropLedger = async (services: Services, config: Config): Promise<void> => {
  await administer(`drop database if exists ${databaseOf(config)} with (force)`, services);
};

/** Waits until a condition holds; fails after half a minute, naming it. */
export const until = async (what: string, condition: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Still not so after ${PATIENCE_MS} ms: ${what}`);
    await sleep(20);
  }
};

export const granted = <T>(result: Result<T>): Extract<Result<T>, { ok: true }> => {
  if (!result.ok) throw new Error(`Refused: ${result.rejection.code}`);
  return result;
};

/** A ledger whose bodies all run, with the few calls that the tests make again and again. */
export class LedgerUnderFault {
  private constructor(
    readonly config: Config,
    readonly holdfast: Holdfast,
  ) {}

  /** With every body, unless told otherwise: without any, nothing mends what the test has broken. */
  static async open(config: Config, roles: readonly Role[] = config.service.roles): Promise<LedgerUnderFault> {
    await migrateDatabase(config);
    const logger = createLogger({ level: 'silent' });
    return new LedgerUnderFault(config, await openHoldfast(config, { logger, roles }));
  }

  /** What the ledger's keys in Redis begin with. */
  get keyPrefix(): string {
    return ledgerKeyPrefix(this.config.redis.keyPrefix, this.holdfast.identity.ledger);
  }

  async openAccount(account: string, amount: bigint): Promise<void> {
    granted(await this.holdfast.ledger.openAccount({ account, unit: 'USD' }));
    if (amount > 0n) await this.recharge(account, `first-${account}`, amount);
  }

  async recharge(account: string, id: string, amount: bigint): Promise<void> {
    granted(await this.holdfast.ledger.recharge({ tenant: account, account, id, amount }));
  }

  reserve(tenant: string, id: string, amount: bigint) {
    return this.holdfast.ledger.reserve({ tenant, id, amount: { kind: 'sole', amount } });
  }

  finalize(tenant: string, id: string, amount: bigint) {
    return this.holdfast.ledger.finalize({ tenant, id, amount: { kind: 'sole', amount } });
  }

  async balance(account: string) {
    return granted(await this.holdfast.ledger.account(account, account)).account;
  }

  /** Waits until Redis answers for every partition. */
  async redisReady(): Promise<void> {
    const partitions = allPartitions(this.holdfast.identity.partitions);
    await until('every partition of Redis is ready', async () => {
      const info = await this.holdfast.redis.readiness.info(partitions);
      return partitions.every((partition) => info.get(partition)?.ready === true);
    });
  }

  /** How many speculations Redis holds now. */
  async speculations(): Promise<number> {
    const partitions = allPartitions(this.holdfast.identity.partitions);
    const info = await this.holdfast.redis.readiness.info(partitions);
    return [...info.values()].reduce((sum, { speculations }) => sum + speculations, 0);
  }

  verify(): Promise<VerifyReport> {
    return this.holdfast.verify(() => undefined);
  }

  /** Waits until Kafka and Redis have everything. */
  async settled(): Promise<void> {
    await until('Kafka and Redis are level with the journal', async () => {
      const { postgres, kafka, redis } = await this.verify();
      return postgres + kafka + redis === 0;
    });
  }

  close(): Promise<void> {
    return this.holdfast.close();
  }
}

/** What every fault must leave behind: nothing that differs anywhere. */
export const NO_DRIFT = { postgres: 0, kafka: 0, redis: 0, findings: [] };
