import type { Logger } from 'pino';
import type { Config } from '../config/settings.js';
import type { DecodeBody } from '../core/ports.js';
import type { JournalReading, LedgerRecord } from '../journal/index.js';
import { KafkaLink, readTopic } from '../kafka/index.js';
import { verifyJournalPartition } from '../recovery/verify-journal.js';
import { verify } from '../recovery/verify.js';
import type { VerifyParts, VerifyReport } from '../recovery/verify.js';
import type { RedisSide } from '../redis/index.js';
import { kafkaSettings } from './options.js';
import { allPartitions } from '../core/partition.js';

export interface VerifyWith {
  readonly config: Config;
  readonly identity: LedgerRecord;
  readonly reading: JournalReading;
  readonly redis: RedisSide;
  readonly decode: DecodeBody;
  readonly logger: Logger;
}

/** A service that a comparison needs is away; nothing was compared. */
export class ServiceAwayError extends Error {
  override readonly name = 'ServiceAwayError';
  readonly code = 'unreachable';
}

/** How long Kafka may be behind before what is missing there counts as drift, ms. */
const CATCH_UP_MS = 15_000;

/** Verifies all three services against each other. Raises UnavailableError or KafkaError when one can't be asked. */
export const verifyWith = async (
  { config, identity, reading, redis, decode, logger }: VerifyWith,
  onProgress: VerifyParts['onProgress'],
): Promise<VerifyReport> => {
  const partitions = allPartitions(identity.partitions);
  const away = partitions.filter((partition) => !redis.isReachable(partition)).length;
  if (away > 0) throw new ServiceAwayError(`Redis can't be reached for ${away.toString()} partitions.`);
  const link = new KafkaLink(kafkaSettings(config), logger);
  try {
    return await verify({
      partitions: identity.partitions,
      reader: reading.reader,
      verifyPartition: (partition) => verifyJournalPartition(reading.audit, partition, { decode }),
      compare: { balances: redis.reader, snapshots: reading.snapshots },
      readTopic: async ({ messages, foreign }) => {
        await readTopic({ link, ledger: identity.ledger, partitions, onMessages: messages, onForeign: foreign });
      },
      catchUpMs: CATCH_UP_MS,
      onProgress,
    });
  } finally {
    await link.close();
  }
};
