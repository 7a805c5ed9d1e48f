import type { Logger } from 'pino';
import type { Config } from '../config/settings.js';
import type { CurrentIncarnation } from '../core/incarnation.js';
import { allPartitions } from '../core/partition.js';
import type { Checkpoint, Witness } from '../core/ports.js';
import { Fence } from '../journal/index.js';
import type { LedgerRecord } from '../journal/index.js';
import { KafkaLink, kafkaWitness } from '../kafka/index.js';
import { faultsOf } from '../logging.js';
import type { LedgerMetrics } from '../metrics/index.js';
import type { RedisSide } from '../redis/index.js';
import { kafkaSettings } from './options.js';

export interface FenceParts {
  readonly config: Config;
  readonly identity: LedgerRecord;
  readonly redis: RedisSide;
  readonly incarnation: CurrentIncarnation;
  readonly logger: Logger;
  readonly metrics: LedgerMetrics;
}

/** Kafka's log as a witness. */
export const kafkaLog = (config: Config, { ledger, partitions }: LedgerRecord, logger: Logger): Witness =>
  kafkaWitness(() => new KafkaLink(kafkaSettings(config), logger), ledger, allPartitions(partitions));

/** The checkpoints of the partitions of Redis that can be asked; how many those are. */
export const redisCheckpoints = async (
  redis: RedisSide,
  partitions: number,
): Promise<{ readonly asked: number; readonly checkpoints: readonly Checkpoint[] }> => {
  const info = await redis.readiness.info(allPartitions(partitions));
  return { asked: info.size, checkpoints: [...info.values()].flatMap(({ checkpoint }) => checkpoint ?? []) };
};

/** The fence of the journal, with the witnesses that there are besides this process: Kafka's log and Redis's checkpoints. */
export const openFence = ({ config, identity, redis, incarnation, logger, metrics }: FenceParts): Fence => {
  const witnesses: readonly Witness[] = [
    kafkaLog(config, identity, logger),
    {
      name: 'Redis',
      outlivesResume: false,
      tails: async () => {
        const { asked, checkpoints } = await redisCheckpoints(redis, identity.partitions);
        if (asked === 0) throw new Error('no partition of it can be reached');
        return checkpoints;
      },
    },
  ];
  const say = faultsOf(logger, 'fence');
  return new Fence({
    witnesses,
    incarnation,
    onSkipped: (witness, error) => {
      metrics.witnessSkipped(witness);
      say(error, `${witness} could not be heard before writing to a new connection`);
    },
  });
};
