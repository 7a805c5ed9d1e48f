import type { Away, DoctorFacts, PostgresFacts, RedisFacts, TopicFacts } from '../core/doctor-facts.js';
import { allPartitions } from '../core/partition.js';
import type { Checkpoint, Head } from '../core/ports.js';
import { found } from './doctor-findings.js';
import type { DoctorCode, DoctorFinding } from './doctor-findings.js';

/** Between this host's clock and Postgres's, beyond what a question takes, ms. */
const CLOCK_MS = 2_000;

const isAway = (facts: object): facts is Away => 'away' in facts;

/** What is wrong with a ledger, from what its services say: the gravest services first. Nothing: all is well. */
export const diagnose = (facts: DoctorFacts): readonly DoctorFinding[] => {
  const { after, before, topic, redis } = facts;
  const journal = isAway(after) || isAway(before) ? undefined : { before, after };
  return [
    ...(isAway(after) ? [found('postgres_unreachable', after.away)] : ofPostgres(after, facts)),
    ...(isAway(topic) ? [found('kafka_unreachable', topic.away)] : ofTopic(topic, journal, facts)),
    ...(isAway(redis) ? [found('redis_unreachable', redis.away)] : ofRedis(redis, journal, facts)),
  ];
};

/** One finding for all partitions of which something is true, told by the first. */
const grouped = <T extends { readonly partition: number }>(
  code: DoctorCode,
  items: readonly T[],
  what: (first: T) => string,
): readonly DoctorFinding[] => {
  const [first] = items;
  if (first === undefined) return [];
  const more = items.length === 1 ? '' : ` (so, or alike, in ${items.length.toString()} partitions)`;
  return [
    found(
      code,
      `partition ${first.partition.toString()}: ${what(first)}${more}`,
      items.map((i) => i.partition),
    ),
  ];
};

const ofPostgres = (postgres: PostgresFacts, { program, wanted }: DoctorFacts): readonly DoctorFinding[] => {
  const { schemaVersion, ledger, standby } = postgres;
  const findings: DoctorFinding[] = [];
  const difference = postgres.hostMs - postgres.nowMs;
  if (Math.abs(difference) > CLOCK_MS)
    findings.push(found('clock_differs', `this host’s clock is ${(difference / 1000).toFixed(1)} s from Postgres’s`));
  if (standby) findings.push(found('postgres_standby', 'this Postgres is a standby, and can’t be written to'));
  if (schemaVersion === 0) return [...findings, found('schema_missing', 'the database is not set up for Holdfast')];
  if (schemaVersion < program)
    findings.push(found('schema_outdated', `the schema is at version ${schemaVersion.toString()}, this program needs ${program.toString()}`)); // prettier-ignore
  if (ledger === undefined)
    return standby ? findings : [...findings, found('schema_missing', 'the database holds no ledger')];
  if (ledger.oldestProgram > program)
    findings.push(found('program_outdated', `the database allows programs from version ${ledger.oldestProgram.toString()} on, this one is ${program.toString()}`)); // prettier-ignore
  if (ledger.name !== wanted.name || ledger.partitions !== wanted.partitions)
    findings.push(found('ledger_differs', `the database holds "${ledger.name}" with ${ledger.partitions.toString()} partitions, the configuration says "${wanted.name}" with ${wanted.partitions.toString()}`)); // prettier-ignore
  if (ledger.storedMark !== ledger.presentMark)
    findings.push(found('cluster_changed', `the ledger stands in cluster and timeline ${ledger.storedMark}, and this is ${ledger.presentMark}: restored, moved or failed over`)); // prettier-ignore
  const lost = postgres.heads.filter(
    (h) => h.lastPosition !== h.position || (h.position > 0 && h.eventHash !== h.hash),
  );
  const { triggersOff, rightsWrong } = postgres;
  return [
    ...findings,
    ...grouped('head_differs', lost, (h) => `the head is at ${h.position.toString()}, the last event at ${h.lastPosition.toString()}${h.lastPosition === h.position ? ', with another hash' : ''}`), // prettier-ignore
    ...(triggersOff.length > 0
      ? [found('append_only_off', `missing or not always on: ${triggersOff.join(', ')}`)]
      : []),
    ...(rightsWrong.length > 0 ? [found('writer_rights', rightsWrong.join('; '))] : []),
  ];
};

interface Journal {
  readonly before: PostgresFacts;
  readonly after: PostgresFacts;
}

const headsOf = ({ heads }: PostgresFacts): ReadonlyMap<number, Head> =>
  new Map(heads.map((head) => [head.partition, head]));

/** What a copy of the log has and the journal has not, or has otherwise; and what it lacks that the journal had before it was asked. */
const compared = (
  copy: { readonly name: string; readonly ahead: DoctorCode; readonly forked: DoctorCode; readonly behind: DoctorCode },
  checkpoints: readonly Checkpoint[],
  { before, after }: Journal,
  { hashes }: DoctorFacts,
): readonly DoctorFinding[] => {
  const [was, is] = [headsOf(before), headsOf(after)];
  const isAhead = ({ partition, position }: Checkpoint): boolean => position > (is.get(partition)?.position ?? 0);
  const ahead = checkpoints.filter(isAhead);
  const forked = checkpoints.filter(
    (one) => !isAhead(one) && one.position > 0 && hashes.get(`${one.partition.toString()}/${one.position.toString()}`) !== one.hash, // prettier-ignore
  );
  const behind = checkpoints.filter(({ partition, position }) => position < (was.get(partition)?.position ?? 0));
  const later = checkpoints.filter(({ incarnation }) => incarnation > (after.ledger?.incarnation ?? incarnation));
  const head = (partition: number): string => (is.get(partition)?.position ?? 0).toString();
  return [
    ...grouped('incarnation_behind', later, (c) => `${copy.name} knows incarnation ${c.incarnation.toString()}, the journal is at ${after.ledger?.incarnation.toString() ?? '?'}`), // prettier-ignore
    ...grouped(copy.ahead, ahead, (c) => `${copy.name} is at ${c.position.toString()}, the journal only at ${head(c.partition)}: the journal went back`), // prettier-ignore
    ...grouped(copy.forked, forked, (c) => `the event at ${c.position.toString()} is another one by ${copy.name} than in the journal`), // prettier-ignore
    ...grouped(copy.behind, behind, (c) => `${copy.name} is at ${c.position.toString()}, the journal at ${head(c.partition)}, and it does not get on`), // prettier-ignore
  ];
};

const KAFKA = { name: 'Kafka', ahead: 'kafka_ahead', forked: 'kafka_forked', behind: 'kafka_behind' } as const;
const REDIS = { name: 'Redis', ahead: 'redis_ahead', forked: 'redis_forked', behind: 'redis_behind' } as const;

const ofTopic = (topic: TopicFacts, journal: Journal | undefined, facts: DoctorFacts): readonly DoctorFinding[] => {
  if (!topic.exists) return [found('topic_missing', 'the topic is not there')];
  const settings = topic.settingsWrong.length === 0 ? [] : [found('topic_setting', topic.settingsWrong.join('; '))];
  const count = journal?.after.ledger?.partitions ?? facts.wanted.partitions;
  if (topic.partitions !== count)
    return [...settings, found('topic_partitions', `the topic has ${topic.partitions.toString()} partitions, the ledger ${count.toString()}`)]; // prettier-ignore
  const late = [...topic.firsts].filter(([, position]) => position > 1).map(([partition, position]) => ({ partition, position })); // prettier-ignore
  const beginnings = grouped('kafka_beginning', late, ({ position }) => `the topic begins with position ${position.toString()}: what is before it is gone from Kafka`); // prettier-ignore
  if (journal === undefined) return [...settings, ...beginnings];
  const known = new Map(topic.tails.map((tail) => [tail.partition, tail]));
  const empty = allPartitions(count).filter((partition) => !known.has(partition));
  const tails = [...topic.tails, ...empty.map((partition) => ({ partition, position: 0, hash: '', incarnation: 0 }))];
  return [...settings, ...beginnings, ...compared(KAFKA, tails, journal, facts)];
};

const ofRedis = (redis: RedisFacts, journal: Journal | undefined, facts: DoctorFacts): readonly DoctorFinding[] => {
  const evicting = redis.servers.filter(({ policy }) => policy !== 'noeviction' && policy !== 'unknown');
  const slaves = redis.servers.filter(({ role }) => role !== 'master');
  return [
    ...evicting.map(({ address, policy }) => found('redis_evicts', `${address} has maxmemory-policy ${policy}: it forgets balances`)), // prettier-ignore
    ...slaves.map(({ address, role }) => found('redis_no_master', `${address} is a ${role}`)),
    ...(journal?.after.ledger === undefined
      ? []
      : ofPartitions(redis, journal, journal.after.ledger.partitions, facts)),
  ];
};

/** Only where the ledger is known: its id is part of its keys' names. */
const ofPartitions = (
  redis: RedisFacts,
  journal: Journal,
  count: number,
  facts: DoctorFacts,
): readonly DoctorFinding[] => {
  const served = new Set(redis.partitions.map(({ partition }) => partition));
  const unserved = allPartitions(count).filter((partition) => !served.has(partition));
  const rebuilding = redis.partitions.filter((one) => one.rebuilding);
  const empty = redis.partitions.filter(({ checkpoint, rebuilding: under }) => checkpoint === undefined && !under);
  const closed = redis.partitions.filter(({ checkpoint, ready }) => checkpoint !== undefined && !ready);
  const checkpoints = redis.partitions.flatMap(({ checkpoint }) => checkpoint ?? []);
  return [
    ...grouped('redis_unserved', unserved.map((partition) => ({ partition })), () => 'no server has it'), // prettier-ignore
    ...grouped('redis_empty', empty, () => 'Redis has no checkpoint: reserves go to the journal'),
    ...grouped('redis_rebuilding', rebuilding, () => 'a rebuild has begun and not ended'),
    ...grouped('redis_not_ready', closed, () => 'Redis is not open to holds: reserves go to the journal'),
    ...compared(REDIS, checkpoints, journal, facts),
  ];
};
