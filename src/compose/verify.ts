import type { Config } from '../config/settings.js';
import type { JournalReading, LedgerRecord } from '../journal/index.js';
import { createLogger } from '../logging.js';
import { compileDecodeBody } from '../validation/decode-body.js';
import { KafkaLink, readTopic } from '../kafka/index.js';
import { verify } from '../recovery/verify.js';
import type { VerifyParts, VerifyReport } from '../recovery/verify.js';
import type { CheckpointsCheck } from '../recovery/verify-checkpoints.js';
import type { RedisSide } from '../redis/index.js';
import { kafkaSettings } from './options.js';
import { allPartitions } from '../core/partition.js';

export interface VerifyWith {
  readonly config: Config;
  readonly identity: LedgerRecord;
  readonly reading: JournalReading;
  readonly redis: RedisSide;
}

/** A service that a comparison needs is away; nothing was compared. */
export class ServiceAwayError extends Error {
  override readonly name = 'ServiceAwayError';
  readonly code = 'unreachable';
}

export interface VerifyOptions {
  /** Also every row of the state, and every record in Redis. */
  readonly deep?: boolean;
  /** How long Kafka may be behind before what is missing there counts as drift, ms. */
  readonly catchUpMs?: number;
  /** What the log was signed as: Kafka's messages are held to it too. */
  readonly checkpoints?: Pick<CheckpointsCheck, 'takeMessages'> | undefined;
}

/** How long Kafka may be behind before what is missing there counts as drift, ms. */
const CATCH_UP_MS = 15_000;

/** Verifies all three services against each other. Raises UnavailableError, ServiceAwayError or KafkaError when one can't be asked. */
export const verifyWith = async (
  { config, identity, reading, redis }: VerifyWith,
  onProgress: VerifyParts['onProgress'],
  { deep = false, catchUpMs = CATCH_UP_MS, checkpoints }: VerifyOptions = {},
): Promise<VerifyReport> => {
  const partitions = allPartitions(identity.partitions);
  const away = partitions.filter((partition) => !redis.isReachable(partition)).length;
  if (away > 0) throw new ServiceAwayError(`Redis can't be reached for ${away.toString()} partitions.`);
  const link = new KafkaLink(kafkaSettings(config), createLogger({ level: 'silent' }));
  try {
    return await verify({
      partitions: identity.partitions,
      reader: reading.reader,
      audit: reading.audit,
      decode: compileDecodeBody(),
      compare: { balances: redis.reader, snapshots: reading.snapshots },
      readTopic: async ({ messages, foreign }) => {
        const onMessages: typeof messages = async (partition, batch) => {
          checkpoints?.takeMessages(partition, batch);
          await messages(partition, batch);
        };
        await readTopic({ link, ledger: identity.ledger, partitions, onMessages, onForeign: foreign });
      },
      deep,
      catchUpMs,
      onProgress,
    });
  } finally {
    await link.close();
  }
};
