import type { JournalReader } from '../core/ports.js';
import type { CompareParts } from './compare-balances.js';
import { Findings } from './finding.js';
import type { Finding } from './finding.js';
import { verifyBalances } from './verify-balances.js';
import type { PartitionFindings } from './verify-journal.js';
import { TopicWalk } from './verify-topic.js';
import type { TopicMessage } from './verify-topic.js';

/** Reads Kafka's log from its beginning to where it ends now. A record that is none of this ledger's counts as foreign. */
export type ReadTopic = (sink: {
  readonly messages: (partition: number, messages: readonly TopicMessage[]) => Promise<void>;
  readonly foreign: (partition: number) => void;
}) => Promise<void>;

export interface VerifyParts {
  readonly partitions: number;
  readonly reader: Pick<JournalReader, 'heads' | 'read'>;
  readonly verifyPartition: (partition: number) => Promise<PartitionFindings>;
  readonly compare: CompareParts;
  readonly readTopic: ReadTopic;
  /** How long Kafka may be behind the journal before what is missing there counts, ms. */
  readonly catchUpMs: number;
  readonly onProgress: (step: 'postgres' | 'kafka' | 'redis', done: number, total: number) => void;
}

/** What verify found: drift is a number for each service, and must be 0. */
export interface VerifyReport {
  readonly events: number;
  readonly accounts: number;
  /** Events whose chain or sum is wrong, and rows that are not what the events add up to. */
  readonly postgres: number;
  /** Messages that are not the journal's, and positions that are missing. */
  readonly kafka: number;
  /** Accounts whose balance differs, speculations given back; and partitions that could not be compared. */
  readonly redis: number;
  /** Messages that came more than once; consumers drop them by position. No drift. */
  readonly kafkaDuplicates: number;
  readonly kafkaForeign: number;
  readonly findings: readonly Finding[];
}

/**
 * Verifies the whole ledger beside live traffic: the chain in Postgres, its rows, Kafka's copy of the log, and Redis less its
 * speculations. Raises UnavailableError, KafkaError when a service can't be asked.
 */
export const verify = async (parts: VerifyParts): Promise<VerifyReport> => {
  const postgres = new Findings();
  const redis = new Findings();
  let events = 0;
  let accounts = 0;
  for (let partition = 0; partition < parts.partitions; partition += 1) {
    const found = await parts.verifyPartition(partition);
    events += found.events;
    accounts += found.balances.size;
    noteJournal(postgres, found);
    parts.onProgress('postgres', partition + 1, parts.partitions);
  }
  const topic = await verifyTopic(parts);
  for (let partition = 0; partition < parts.partitions; partition += 1) {
    const verdict = await verifyBalances(parts.compare, partition);
    for (const finding of verdict.findings.list) redis.add(finding);
    if (verdict.putOff !== undefined)
      redis.add({ where: 'redis', partition, what: `can't be compared: ${verdict.putOff}` });
    parts.onProgress('redis', partition + 1, parts.partitions);
  }
  return {
    events,
    accounts,
    postgres: postgres.count,
    kafka: topic.findings.count,
    redis: redis.count,
    kafkaDuplicates: topic.duplicates,
    kafkaForeign: topic.foreign,
    findings: [...postgres.list, ...topic.findings.list, ...redis.list],
  };
};

const noteJournal = (findings: Findings, found: PartitionFindings): void => {
  const { partition, mismatches, firstMismatch, drift, drifted } = found;
  for (let n = 0; n < mismatches; n += 1)
    findings.add({
      where: 'postgres',
      partition,
      ...(firstMismatch === undefined ? {} : { position: firstMismatch.position }),
      what: n === 0 ? (firstMismatch?.what ?? 'the chain is broken') : 'the chain is broken further on',
    });
  for (let n = 0; n < drift; n += 1)
    findings.add({ where: 'postgres', partition, what: drifted[n] ?? 'a row is not what the events add up to' });
};

interface TopicVerdict {
  readonly findings: Findings;
  readonly duplicates: number;
  readonly foreign: number;
}

/** Reads the topic until it has what the journal had at the beginning, or the time for that is up. */
const verifyTopic = async (parts: VerifyParts): Promise<TopicVerdict> => {
  const heads = await parts.reader.heads();
  const untilMs = performance.now() + parts.catchUpMs;
  for (;;) {
    const walks = heads.map(({ partition }) => new TopicWalk(partition, parts.reader));
    await parts.readTopic({
      messages: async (partition, messages) => walks[partition]?.take(messages),
      foreign: (partition) => {
        const walk = walks[partition];
        if (walk !== undefined) walk.foreign += 1;
      },
    });
    const missing = heads.filter((head) => (walks[head.partition]?.position ?? 0) < head.position);
    parts.onProgress('kafka', heads.length - missing.length, heads.length);
    if (missing.length > 0 && performance.now() < untilMs) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      continue;
    }
    return conclude(walks, missing);
  }
};

const conclude = (
  walks: readonly TopicWalk[],
  missing: readonly { readonly partition: number; readonly position: number }[],
): TopicVerdict => {
  const findings = new Findings();
  for (const walk of walks) for (const finding of walk.findings.list) findings.add(finding);
  for (const { partition, position } of missing) {
    const from = (walks[partition]?.position ?? 0) + 1;
    const what = `positions ${from.toString()} to ${position.toString()} are not on Kafka`;
    findings.add({ where: 'kafka', partition, position: from, what });
  }
  const sum = (of: (walk: TopicWalk) => number): number => walks.reduce((total, walk) => total + of(walk), 0);
  return { findings, duplicates: sum((walk) => walk.duplicates), foreign: sum((walk) => walk.foreign) };
};
