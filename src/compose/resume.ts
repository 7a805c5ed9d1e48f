import { allPartitions } from '../core/partition.js';
import { resumeLedger } from '../journal/index.js';
import type { Resumed } from '../journal/index.js';
import { kafkaLog } from './fence.js';
import type { Ground } from './ground.js';
import { postgresOptions } from './options.js';

export interface ResumeWish {
  /** Go on although Kafka can't be asked: what it alone has is given up. */
  readonly withoutKafka: boolean;
}

/**
 * Opens a fenced journal for writing again, by an operator's word. Raises ResumeRefusedError with nothing changed while Kafka's log is
 * ahead of the journal or another one, or can't be asked and the wish is not to go on without it.
 */
export const resumeWith = async (
  { config, identity, redis, logger }: Ground,
  { withoutKafka }: ResumeWish,
): Promise<Resumed> => {
  const info = await redis.readiness.info(allPartitions(identity.partitions));
  return resumeLedger({
    postgres: postgresOptions(config, config.postgres.adminUrl ?? config.postgres.url),
    log: withoutKafka ? undefined : kafkaLog(config, identity, logger),
    balances: [...info.values()].flatMap(({ checkpoint }) => checkpoint ?? []),
  });
};
