import { KafkaLink, readTopic } from '../kafka/index.js';
import { createLogger } from '../logging.js';
import { digestLedger, digestPartition } from '../recovery/digest.js';
import type { PartitionDigest, PartitionState } from '../recovery/digest.js';
import { stateInKafka, stateInPostgres, stateInRedis } from '../recovery/digest-sources.js';
import { compileDecodeBody } from '../validation/decode-body.js';
import type { Holdfast } from './open.js';
import { kafkaSettings } from './options.js';
import { ServiceAwayError } from './verify.js';

/** What a digest can be worked out from. */
export const DIGEST_SOURCES = ['postgres', 'kafka', 'redis'] as const;
export type DigestSource = (typeof DIGEST_SOURCES)[number];

export interface DigestOptions {
  readonly from: DigestSource;
  readonly partitions: readonly number[];
  /** The position to digest at; the source's last one when absent. */
  readonly at?: number;
  /** An account whose own digest is wanted. */
  readonly account?: string;
  /** Told of each partition as it is done. */
  readonly onPartition: (digest: PartitionDigest) => void;
}

/** The digests of partitions, and of the whole ledger when they are all its partitions. Hashes in lower-case hex. */
export interface LedgerDigest {
  readonly from: DigestSource;
  readonly ledger: string;
  readonly partitions: readonly PartitionDigest[];
  readonly digest?: string;
}

/**
 * Works out the digests of partitions, one after the other: what two sites compare. Beside live traffic.
 * Raises UnavailableError, KafkaError or ServiceAwayError when the source can't be asked, DigestError when it does not have the
 * position, LogBrokenError when the log does not follow on.
 */
export const digestHoldfast = async (
  holdfast: Pick<Holdfast, 'config' | 'identity' | 'reading' | 'redis'>,
  { from, partitions, at, account, onPartition }: DigestOptions,
): Promise<LedgerDigest> => {
  const { ledger, partitions: all } = holdfast.identity;
  const source = openSource(holdfast, from);
  const digests: PartitionDigest[] = [];
  try {
    for (const partition of partitions) {
      const digest = digestPartition(await source.state(partition, at), account);
      digests.push(digest);
      onPartition(digest);
    }
  } finally {
    await source.close();
  }
  return {
    from,
    ledger,
    partitions: digests,
    ...(digests.length === all ? { digest: digestLedger(digests) } : {}),
  };
};

interface Source {
  readonly state: (partition: number, at?: number) => Promise<PartitionState>;
  readonly close: () => Promise<void>;
}

const openSource = (
  { config, identity, reading, redis }: Pick<Holdfast, 'config' | 'identity' | 'reading' | 'redis'>,
  from: DigestSource,
): Source => {
  const { ledger } = identity;
  const close = (): Promise<void> => Promise.resolve();
  if (from === 'postgres')
    return { state: (partition, at) => stateInPostgres(reading.snapshots, ledger, partition, at), close };
  if (from === 'redis')
    return {
      state: async (partition, at) => {
        if (!redis.isReachable(partition))
          throw new ServiceAwayError(`Redis can't be reached for partition ${partition.toString()}.`);
        return stateInRedis(redis.reader, partition, at);
      },
      close,
    };
  const link = new KafkaLink(kafkaSettings(config), createLogger({ level: 'silent' }));
  const decode = compileDecodeBody();
  const read: Parameters<typeof stateInKafka>[0] = async (partition, onMessages) => {
    const onAll = (_partition: number, messages: Parameters<typeof onMessages>[0]): Promise<void> => {
      onMessages(messages);
      return Promise.resolve();
    };
    await readTopic({ link, ledger, partitions: [partition], onMessages: onAll });
  };
  return {
    state: (partition, at) => stateInKafka(read, decode, ledger, partition, at),
    close: () => link.close(),
  };
};
