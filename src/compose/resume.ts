import { resumeLedger } from '../journal/index.js';
import type { Resumed } from '../journal/index.js';
import { kafkaLog, redisCheckpoints } from './fence.js';
import type { Ground } from './ground.js';
import { postgresOptions } from './options.js';

export interface ResumeWish {
  /** Go on although Kafka can't be asked: what it alone has is given up. */
  readonly withoutKafka: boolean;
}

/** What was done, and what it could not know: what was not asked may have had more. */
export interface ResumedLedger extends Resumed {
  readonly kafkaAsked: boolean;
  /** How many partitions of Redis could not be asked. */
  readonly redisUnasked: number;
}

/**
 * Opens a fenced journal for writing again, by an operator's word. Raises ResumeRefusedError with nothing changed while Kafka's log is
 * ahead of the journal or another one, or can't be asked and the wish is not to go on without it.
 */
export const resumeWith = async (
  { config, identity, redis, logger }: Ground,
  { withoutKafka }: ResumeWish,
): Promise<ResumedLedger> => {
  const { asked, checkpoints } = await redisCheckpoints(redis, identity.partitions);
  const resumed = await resumeLedger({
    postgres: postgresOptions(config, config.postgres.adminUrl ?? config.postgres.url),
    log: withoutKafka ? undefined : kafkaLog(config, identity, logger),
    balances: checkpoints,
  });
  return { ...resumed, kafkaAsked: !withoutKafka, redisUnasked: identity.partitions - asked };
};
