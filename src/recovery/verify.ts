import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditView, JournalAudit } from '../core/audit.js';
import type { DecodeBody, JournalReader } from '../core/ports.js';
import type { CompareParts } from './compare-balances.js';
import { Findings } from './finding.js';
import type { Finding } from './finding.js';
import { verifyBalances } from './verify-balances.js';
import { verifyJournalPartition } from './verify-journal.js';
import type { PartitionFindings } from './verify-journal.js';
import { MaxCostWalk } from './verify-max-costs.js';
import { verifyRecords } from './verify-records.js';
import { TopicWalk } from './verify-topic.js';
import type { TopicMessage } from './verify-topic.js';

/** Reads Kafka's log from its beginning to where it ends now. A record that is none of this ledger's counts as foreign. */
export type ReadTopic = (sink: {
  readonly messages: (partition: number, messages: readonly TopicMessage[]) => Promise<void>;
  readonly foreign: (partition: number, offset: number, why: string) => void;
}) => Promise<void>;

export interface VerifyParts {
  readonly partitions: number;
  readonly reader: Pick<JournalReader, 'heads'>;
  readonly audit: JournalAudit;
  readonly decode: DecodeBody;
  readonly compare: CompareParts;
  readonly readTopic: ReadTopic;
  /** Also every row of the state, and every record in Redis. */
  readonly deep?: boolean;
  /** How long Kafka may be behind the journal before what is missing there counts, ms. */
  readonly catchUpMs: number;
  /** Told now and then how much is done: events of Postgres and of Kafka, partitions of Redis. */
  readonly onProgress: (step: VerifyStep, done: number, total: number) => void;
}

export type VerifyStep = 'postgres' | 'kafka' | 'redis';

/** What verify found: drift is a number for each service, and must be 0. */
export interface VerifyReport {
  readonly events: number;
  readonly accounts: number;
  /** Reservations that Redis has a record of; only deep. */
  readonly records?: number;
  /** Events whose chain or sum is wrong, and rows that are not what the events add up to. */
  readonly postgres: number;
  /** Messages that are not the journal's, and positions that are missing. */
  readonly kafka: number;
  /** Accounts (deep: and records) that differ, speculations given back; and partitions that could not be compared. */
  readonly redis: number;
  /** Messages that came more than once; consumers drop them by position. No drift. */
  readonly kafkaDuplicates: number;
  readonly kafkaForeign: number;
  readonly findings: readonly Finding[];
  /** What is no drift and of interest all the same: where messages came again. */
  readonly notes: readonly Finding[];
}

/**
 * Verifies the whole ledger beside live traffic: the chain in Postgres, its rows, Kafka's copy of the log, and Redis less its
 * speculations. Memory grows with the accounts of one partition. Raises UnavailableError, KafkaError when a service can't be asked.
 */
export const verify = async (parts: VerifyParts): Promise<VerifyReport> => {
  const journal = await verifyJournal(parts);
  const topic = await verifyTopic(parts);
  const redis = new Findings();
  let records = 0;
  for (let partition = 0; partition < parts.partitions; partition += 1) {
    const verdict = await verifyBalances(parts.compare, partition);
    redis.addAll(verdict.findings);
    if (verdict.putOff !== undefined)
      redis.add({ where: 'redis', partition, what: `can't be compared: ${verdict.putOff}` });
    else if (parts.deep === true) {
      const deep = await verifyRecords(parts, partition);
      redis.addAll(deep.findings);
      records += deep.records;
    }
    parts.onProgress('redis', partition + 1, parts.partitions);
  }
  return {
    events: journal.events,
    accounts: journal.accounts,
    ...(parts.deep === true ? { records } : {}),
    postgres: journal.findings.count,
    kafka: topic.findings.count,
    redis: redis.count,
    kafkaDuplicates: topic.duplicates,
    kafkaForeign: topic.foreign,
    findings: [...journal.findings.list, ...topic.findings.list, ...redis.list],
    notes: topic.notes,
  };
};

interface JournalVerdict {
  readonly findings: Findings;
  readonly events: number;
  readonly accounts: number;
}

const verifyJournal = async (parts: VerifyParts): Promise<JournalVerdict> => {
  const findings = new Findings();
  const total = (await parts.reader.heads()).reduce((sum, { position }) => sum + position, 0);
  const maxCosts = parts.deep === true ? new MaxCostWalk(await allMaxCosts(parts.audit)) : undefined;
  let events = 0;
  let accounts = 0;
  for (let partition = 0; partition < parts.partitions; partition += 1) {
    const found = await verifyJournalPartition(parts.audit, partition, {
      decode: parts.decode,
      deep: parts.deep === true,
      onProgress: (_partition, done) => parts.onProgress('postgres', events + done, total),
      onEvent: (event) => maxCosts?.take(event),
    });
    events += found.events;
    accounts += found.balances.size;
    noteJournal(findings, found);
  }
  for (const what of maxCosts?.conclude(await allMaxCosts(parts.audit)) ?? [])
    findings.add({ where: 'postgres', partition: 0, what });
  parts.onProgress('postgres', events, Math.max(events, total));
  return { findings, events, accounts };
};

/** The rows are of the whole ledger, whichever partition is asked. */
const allMaxCosts = (audit: JournalAudit): ReturnType<AuditView['maxCosts']> =>
  audit.withPartition(0, (view) => view.maxCosts());

const noteJournal = (findings: Findings, found: PartitionFindings): void => {
  const { partition, mismatches, mismatched, drift, drifted } = found;
  const at = { where: 'postgres', partition } as const;
  for (const { position, what } of mismatched) findings.add({ ...at, position, what });
  for (const one of drifted) findings.add({ ...at, ...one });
  findings.more(mismatches - mismatched.length + drift - drifted.length);
};

interface TopicVerdict {
  readonly findings: Findings;
  readonly notes: readonly Finding[];
  readonly duplicates: number;
  readonly foreign: number;
}

const CATCH_UP_PAUSE_MS = 250;

/** Reads the topic until it has what the journal had at the beginning, or the time for that is up. */
const verifyTopic = async (parts: VerifyParts): Promise<TopicVerdict> => {
  const heads = await parts.reader.heads();
  const total = heads.reduce((sum, { position }) => sum + position, 0);
  const untilMs = performance.now() + parts.catchUpMs;
  const rowsAt = (partition: number, positions: readonly number[]): ReturnType<AuditView['eventsAt']> =>
    parts.audit.withPartition(partition, (view) => view.eventsAt(positions));
  for (;;) {
    const walks = heads.map(({ partition }) => new TopicWalk(partition, rowsAt));
    let done = 0;
    await parts.readTopic({
      messages: async (partition, messages) => {
        await walks[partition]?.take(messages);
        done += messages.length;
        parts.onProgress('kafka', done, total);
      },
      foreign: (partition, offset, why) => walks[partition]?.noteForeign(offset, why),
    });
    const missing = heads.some((head) => (walks[head.partition]?.position ?? 0) < head.position);
    if (missing && performance.now() < untilMs) {
      await sleep(CATCH_UP_PAUSE_MS);
      continue;
    }
    for (const { partition, position } of heads) walks[partition]?.missUpTo(position);
    return conclude(walks);
  }
};

const conclude = (walks: readonly TopicWalk[]): TopicVerdict => {
  const findings = new Findings();
  for (const walk of walks) findings.addAll(walk.findings);
  const sum = (of: (walk: TopicWalk) => number): number => walks.reduce((total, walk) => total + of(walk), 0);
  return {
    findings,
    notes: walks.flatMap(({ notes }) => notes),
    duplicates: sum((walk) => walk.duplicates),
    foreign: sum((walk) => walk.foreign),
  };
};
