import { randomUUID } from 'node:crypto';
import { genesisHash } from '../../events/index.js';
import type { LedgerIdentity } from '../core/ports.js';
import { LedgerMismatchError } from './errors.js';
import { PROGRAM_VERSION } from './migration-files.js';
import type { PostgresOptions } from './options.js';
import { Session } from './session.js';
import type { Statement } from './statement.js';

/** What the configuration says of the ledger; both are fixed when it is created. */
export interface LedgerSettings {
  readonly name: string;
  /** 1 to 1,024. */
  readonly partitions: number;
}

/** The ledger as its database knows it. */
export interface LedgerRecord extends LedgerIdentity {
  readonly name: string;
  readonly createdAtMs: number;
  /** The schema's version. */
  readonly schemaVersion: number;
  /** The oldest schema version whose program may work here. */
  readonly oldestProgram: number;
  /** Cluster and timeline that it was created in, and the present ones. */
  readonly created: ClusterMark;
  readonly present: ClusterMark;
}

/** Which cluster, and which of its histories (a promoted or restored copy has a later timeline). */
export interface ClusterMark {
  readonly systemIdentifier: bigint;
  readonly timeline: number;
}

/** The present mark in SQL: system identifier, then timeline. */
export const PRESENT_MARK = `(select system_identifier from pg_control_system()),
  ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int`;

export const readLedger: Statement<LedgerRecord> = {
  name: 'read_ledger',
  text: `select id, name, partitions, (extract(epoch from created_at) * 1000)::bigint, incarnation, oldest_program,
      system_identifier, timeline, ${PRESENT_MARK}, (select max(number) from holdfast.migrations)
    from holdfast.ledger`,
  read: (row) => ({
    ledger: row.text(0),
    name: row.text(1),
    partitions: row.int(2),
    createdAtMs: row.int(3),
    incarnation: row.int(4),
    oldestProgram: row.int(5),
    created: { systemIdentifier: row.bigint(6), timeline: row.int(7) },
    present: { systemIdentifier: row.bigint(8), timeline: row.int(9) },
    schemaVersion: row.int(10),
  }),
};

const insertLedger: Statement<true> = {
  name: 'insert_ledger',
  text: `insert into holdfast.ledger (id, name, partitions, system_identifier, timeline)
    select $1::uuid, $2::text, $3::int, ${PRESENT_MARK} on conflict do nothing returning true`,
  read: () => true,
};

const insertHeads: Statement<never> = {
  name: 'insert_heads',
  text: `insert into holdfast.heads (partition, position, hash, last_event_ms)
    select n - 1, 0, decode(hash, 'hex'), 0 from unnest($1::text[]) with ordinality as given(hash, n)`,
  read: () => {
    throw new Error('No row was asked for.');
  },
};

/**
 * Creates the database's one ledger unless it is there, within the caller's transaction. True when it was created.
 */
export const createLedger = async (session: Session, { name, partitions }: LedgerSettings): Promise<boolean> => {
  const ledger = randomUUID();
  const [made] = await session.query(insertLedger, [ledger, name, partitions.toString()]);
  if (made === undefined) return false;
  const hashes = Array.from({ length: partitions }, (_, partition) => genesisHash(ledger, partition));
  await session.query(insertHeads, [`{${hashes.join(',')}}`]);
  await session.simple('insert into holdfast.redis_epochs (partition) select partition from holdfast.heads');
  return true;
};

/** Raises LedgerMismatchError, in words, when this program may not work on a database of these versions. */
export const checkVersions = (
  found: Pick<LedgerRecord, 'schemaVersion' | 'oldestProgram'>,
  program = PROGRAM_VERSION,
): void => {
  if (program < found.oldestProgram)
    throw new LedgerMismatchError(
      `This program is too old: it knows version ${program.toString()} of the schema, and the database allows ${found.oldestProgram.toString()} or later. Run a later release.`,
    );
  if (found.schemaVersion < program)
    throw new LedgerMismatchError(
      `The database is at version ${found.schemaVersion.toString()} of the schema, and this program needs ${program.toString()}. Run: holdfast migrate`,
    );
};

/** Raises LedgerMismatchError when the database's ledger is not the one that the configuration describes. */
export const checkSettings = (found: LedgerRecord, wanted: LedgerSettings): void => {
  if (found.partitions !== wanted.partitions)
    throw new LedgerMismatchError(
      `The ledger was created with ${found.partitions.toString()} partitions, and the configuration says ${wanted.partitions.toString()}. The number is fixed: set HOLDFAST_LEDGER_PARTITIONS=${found.partitions.toString()}.`,
    );
  if (found.name !== wanted.name)
    throw new LedgerMismatchError(
      `The database holds the ledger "${found.name}", and the configuration names "${wanted.name}". Set HOLDFAST_LEDGER_NAME, or use another database.`,
    );
};

/**
 * Reads the ledger and checks it, at every start. Raises LedgerMismatchError when the database is not set up, is of a
 * version that does not go with this program, or holds another ledger than `settings` describes; SessionLostError when
 * Postgres is away.
 */
export const openLedger = async (
  options: PostgresOptions,
  settings: LedgerSettings,
  program = PROGRAM_VERSION,
): Promise<LedgerRecord> => {
  const session = await Session.open(options, { statements: [readLedger], idleInTransactionMs: 10_000 });
  try {
    const [[found]] = await session.run({ statement: readLedger, values: [] });
    if (found === undefined) throw new LedgerMismatchError('The database has no ledger yet. Run: holdfast migrate');
    checkVersions(found, program);
    checkSettings(found, settings);
    return found;
  } finally {
    await session.close();
  }
};
