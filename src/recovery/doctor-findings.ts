/** One thing that the doctor can find, with what mends it. */
interface Kind {
  /** `note`: said, and not wrong. */
  readonly severity: 'wrong' | 'note';
  /** The command, or what a person does. */
  readonly mend: string;
}

const wrong = (mend: string): Kind => ({ severity: 'wrong', mend });
const note = (mend: string): Kind => ({ severity: 'note', mend });

/** Everything that the doctor can find: codes never change, docs/ERRORS.md tells of each. */
export const DOCTOR_FINDINGS = {
  postgres_unreachable: wrong(
    'start Postgres, or mend HOLDFAST_POSTGRES_URL; a lost database: holdfast restore --from kafka',
  ),
  postgres_standby: wrong('point HOLDFAST_POSTGRES_URL at the primary; after a promotion: holdfast resume'),
  schema_missing: wrong('holdfast migrate; a database that was lost: then holdfast restore --from kafka'),
  schema_outdated: wrong('holdfast migrate'),
  program_outdated: wrong('run a later release of Holdfast'),
  ledger_differs: wrong(
    'set HOLDFAST_LEDGER_NAME and HOLDFAST_LEDGER_PARTITIONS to what the database says, or use another database',
  ),
  cluster_changed: wrong(
    'holdfast verify, then holdfast resume (first holdfast restore --from kafka if Kafka is ahead)',
  ),
  head_differs: wrong('stop all servers; holdfast verify; holdfast restore --from kafka'),
  append_only_off: wrong('ALTER TABLE holdfast.<table> ENABLE ALWAYS TRIGGER <trigger>; then holdfast verify --deep'),
  writer_rights: wrong('GRANT or REVOKE as said; then holdfast verify --deep'),
  kafka_unreachable: wrong(
    'start Kafka, or mend HOLDFAST_KAFKA_BROKERS; nothing is lost: servers relay what is missing',
  ),
  topic_missing: wrong('holdfast serve makes it and relays the log; a lost one: holdfast restore --from postgres'),
  topic_partitions: wrong('another topic (HOLDFAST_KAFKA_TOPIC); then holdfast restore --from postgres'),
  topic_setting: wrong('kafka-configs.sh --alter --entity-type topics as said; then holdfast verify'),
  kafka_ahead: wrong('holdfast restore --from kafka, then holdfast resume'),
  kafka_forked: wrong(
    'stop all servers; holdfast verify says from where on; holdfast restore --from kafka or --from postgres',
  ),
  kafka_behind: wrong('holdfast serve with the role relay'),
  kafka_beginning: wrong('holdfast restore --from postgres'),
  redis_unreachable: wrong('start Redis, or mend HOLDFAST_REDIS_URL; reserves go to the journal meanwhile'),
  redis_evicts: wrong('CONFIG SET maxmemory-policy noeviction, and in its configuration file'),
  redis_no_master: wrong('point HOLDFAST_REDIS_URL at the master'),
  redis_unserved: wrong('mend the Cluster: no master serves their slots'),
  redis_empty: wrong('holdfast rebuild; a server with the role projector does it by itself'),
  redis_rebuilding: note('nothing, while it lasts seconds; holdfast rebuild when its process is gone'),
  redis_ahead: wrong('holdfast resume, when Postgres was restored; then holdfast rebuild'),
  redis_forked: wrong('holdfast rebuild; then holdfast verify'),
  redis_behind: wrong('holdfast serve with the role projector; or holdfast rebuild'),
  redis_not_ready: note('a server with the role projector makes it ready'),
  incarnation_behind: wrong(
    'this database is from before a resume: use the one that was resumed, or holdfast restore --from kafka and holdfast resume',
  ),
  clock_differs: note('nothing: what decides is Postgres’s clock. Set this host’s clock, for its log'),
} as const satisfies Readonly<Record<string, Kind>>;

export type DoctorCode = keyof typeof DOCTOR_FINDINGS;

/** What the doctor found, in words. */
export interface DoctorFinding extends Kind {
  readonly code: DoctorCode;
  /** Where it is so; absent: it is of no partition. */
  readonly partitions?: readonly number[];
  readonly what: string;
}

/** A finding of this code. */
export const found = (code: DoctorCode, what: string, partitions?: readonly number[]): DoctorFinding => ({
  code,
  ...DOCTOR_FINDINGS[code],
  ...(partitions === undefined ? {} : { partitions }),
  what,
});
