/** The topic of a ledger under test, read from its beginning as any consumer would. */
import { kafkaSettings } from '../../src/compose/options.js';
import { KafkaLink, readTopic } from '../../src/kafka/index.js';
import type { LogMessage } from '../../src/kafka/index.js';
import { createLogger } from '../../src/logging.js';
import type { LedgerUnderTest } from './harness.js';

/** Every message of a partition, in the order of the topic, repeated ones included. */
export const messagesOnKafka = async (
  { config, holdfast }: LedgerUnderTest,
  partition: number,
): Promise<readonly LogMessage[]> => {
  const link = new KafkaLink(kafkaSettings(config), createLogger({ level: 'silent' }));
  const all: LogMessage[] = [];
  try {
    await readTopic({
      link,
      ledger: holdfast.identity.ledger,
      partitions: [partition],
      onMessages: (_partition, messages) => {
        all.push(...messages);
        return Promise.resolve();
      },
    });
  } finally {
    await link.close();
  }
  return all;
};

/** The positions of a partition's messages. */
export const positionsOnKafka = async (ledger: LedgerUnderTest, partition: number): Promise<readonly number[]> =>
  (await messagesOnKafka(ledger, partition)).map(({ position }) => position);

interface Posted {
  readonly data: { readonly postings: readonly { readonly account: string; readonly available: string }[] };
}

/** What an account's postings to `available` add up to, by a consumer that drops what it has seen. */
export const availableOnKafka = async (ledger: LedgerUnderTest, account: string): Promise<bigint> => {
  let last = 0;
  let sum = 0n;
  for (const { position, body } of await messagesOnKafka(ledger, ledger.partitionOf(account))) {
    if (position <= last) continue;
    last = position;
    for (const posting of (JSON.parse(body) as Posted).data.postings)
      if (posting.account === account) sum += BigInt(posting.available);
  }
  return sum;
};
