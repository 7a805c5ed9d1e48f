/** A partition in the real Redis beside a log on the real Postgres, which also keeps its epochs. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { inject } from 'vitest';
import type { ApplyOutcome, BalanceSample } from '../../src/core/ports.js';
import { openRedis } from '../../src/redis/index.js';
import type { RedisSide } from '../../src/redis/index.js';
import { partitionKeys } from '../../src/redis/keys.js';
import type { PartitionKeys } from '../../src/redis/keys.js';
import { PARTITION } from '../lua/harness.js';
import type { ReferenceLog } from './reference-log.js';
import type { DrivenPartition } from './redis-driver.js';
import type { SqlLog } from './sql-log.js';

const READ_MAX = 10_000;

export class LedgerPartition implements DrivenPartition {
  readonly raw: Redis;
  readonly keys: PartitionKeys;

  private constructor(
    private readonly sql: SqlLog,
    private readonly keyPrefix: string,
    readonly rebuild: () => Promise<void>,
    private present: RedisSide,
  ) {
    this.keys = partitionKeys(keyPrefix, PARTITION);
    this.raw = new Redis(inject('redisUrl'));
  }

  /** Under a key prefix of its own; not ready until a rebuild. */
  static async open(sql: SqlLog, rebuild: () => Promise<void>): Promise<LedgerPartition> {
    const keyPrefix = `m${randomBytes(6).toString('hex')}`;
    return new LedgerPartition(sql, keyPrefix, rebuild, await connect(sql, keyPrefix));
  }

  get side(): RedisSide {
    return this.present;
  }

  get log(): ReferenceLog {
    return this.sql.fold;
  }

  /** The connections and the memory of a new process. */
  async reconnect(): Promise<void> {
    await this.present.stop();
    this.present = await connect(this.sql, this.keyPrefix);
  }

  async apply(): Promise<ApplyOutcome> {
    const from = (await this.side.balances.checkpoint(PARTITION))?.position ?? 0;
    const run = await this.sql.read(from, READ_MAX);
    if (run.length === 0) return { kind: 'applied', checkpoint: from };
    return this.side.balances.apply(PARTITION, this.log.incarnation, run);
  }

  async sample(): Promise<BalanceSample> {
    const sample = await this.side.reader.sample(PARTITION, [...this.log.state.accounts.keys()]);
    if (sample === undefined) throw new Error('Redis has no checkpoint.');
    return sample;
  }

  async close(): Promise<void> {
    await this.present.stop();
    const left = await this.raw.keys(`{${this.keyPrefix}:*`);
    if (left.length > 0) await this.raw.unlink(...left);
    this.raw.disconnect();
  }
}

/** Speculations are orphans at once: nothing waits 30 s. */
const connect = ({ bench }: SqlLog, keyPrefix: string): Promise<RedisSide> =>
  openRedis({
    // A busy machine must not look like a silent server.
    settings: { url: inject('redisUrl'), keyPrefix, timeoutMs: 10_000 },
    partitions: 1,
    epochs: bench.reading.epochs,
    orphanAgeMs: 0,
  });
