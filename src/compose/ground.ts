import type { Logger } from 'pino';
import type { Config } from '../config/settings.js';
import { CurrentIncarnation } from '../core/incarnation.js';
import type { DecodeBody } from '../core/ports.js';
import { PostgresElections, openLedger, openReading } from '../journal/index.js';
import type { Fence, JournalReading, LedgerRecord } from '../journal/index.js';
import { faultsOf } from '../logging.js';
import { createMetrics } from '../metrics/index.js';
import type { Metrics } from '../metrics/index.js';
import { openRedis } from '../redis/index.js';
import type { RedisSide } from '../redis/index.js';
import { compileDecodeBody } from '../validation/decode-body.js';
import { openFence } from './fence.js';
import { postgresOptions, redisSettings } from './options.js';

/** What everything else stands on: the database and Redis, connected. */
export interface Ground {
  readonly config: Config;
  readonly logger: Logger;
  readonly identity: LedgerRecord;
  readonly metrics: Metrics;
  readonly decode: DecodeBody;
  readonly reading: JournalReading;
  readonly elections: PostgresElections;
  readonly redis: RedisSide;
  readonly incarnation: CurrentIncarnation;
  readonly fence: Fence;
}

/** Raises what openHoldfast raises. */
export const openGround = async (config: Config, logger: Logger): Promise<Ground> => {
  const postgres = postgresOptions(config);
  const identity = await openLedger(postgres, config.ledger);
  const decode = compileDecodeBody();
  const reading = openReading({ postgres, identity, decode, poolMax: config.postgres.poolMax });
  const elections = new PostgresElections(postgres, { onFault: faultsOf(logger, 'elections') });
  const metrics = createMetrics({ processToo: true });
  try {
    const redis = await openRedisSide(config, identity, reading, logger);
    const incarnation = new CurrentIncarnation(identity.incarnation);
    const fence = openFence({ config, identity, redis, incarnation, logger, metrics: metrics.ledger });
    return { config, logger, identity, metrics, decode, reading, elections, redis, incarnation, fence };
  } catch (error) {
    await elections.close();
    await reading.close();
    throw error;
  }
};

/** Lets go of all of it. */
export const closeGround = async ({ redis, elections, reading }: Ground): Promise<void> => {
  await redis.stop();
  await elections.close();
  await reading.close();
};

const openRedisSide = (
  config: Config,
  identity: LedgerRecord,
  reading: JournalReading,
  logger: Logger,
): Promise<RedisSide> =>
  openRedis({
    settings: redisSettings(config, identity.ledger),
    partitions: identity.partitions,
    epochs: reading.epochs,
    orphanAgeMs: config.reservations.orphanMs,
    onNotice: (notice) => {
      if (notice.kind === 'connected') logger.info({ part: 'redis', ...notice }, 'Redis is connected');
      else logger.warn({ part: 'redis', ...notice }, `Redis: ${notice.kind}`);
    },
  });
