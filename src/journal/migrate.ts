import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerMismatchError, SQLSTATE, StatementError } from './errors.js';
import { checkSettings, createLedger, readLedger } from './ledger.js';
import type { LedgerRecord, LedgerSettings } from './ledger.js';
import { loadMigrations } from './migration-files.js';
import type { Migration } from './migration-files.js';
import type { PostgresOptions } from './options.js';
import { Session } from './session.js';
import type { Statement } from './statement.js';

export interface MigrateResult {
  /** The schema's version before and after; 0 is an empty database. */
  readonly from: number;
  readonly to: number;
  /** The names of the migrations that this run carried out. */
  readonly applied: readonly string[];
  /** True when this run created the ledger. */
  readonly created: boolean;
  readonly ledger: LedgerRecord;
}

/** "holdfast" in ASCII: whoever changes the schema holds this lock. */
const MIGRATION_LOCK = '7525354892236551028';
const MIGRATION_TIMEOUT_MS = 600_000;
const ATTEMPTS_MAX = 5;
const ATTEMPT_PAUSE_MS = 50;

const readVersion: Statement<number> = {
  name: 'read_version',
  text: 'select coalesce(max(number), 0) from holdfast.migrations',
  read: (row) => row.int(0),
};

const claim: Statement<true> = {
  name: 'claim_migration',
  text: 'insert into holdfast.migrations (number, name) values ($1::int, $2) on conflict do nothing returning true',
  read: () => true,
};

const BOOTSTRAP = `
  create schema if not exists holdfast;
  create table if not exists holdfast.migrations (
    number integer primary key,
    name text not null,
    applied_at timestamptz not null default clock_timestamp()
  )`;

/**
 * Brings the database to this program's schema and creates the ledger if there is none. Two that start at once wait for
 * each other; a migration happens once, whole or not at all. A database that is newer, but allows this program, is left
 * as it is. Raises LedgerMismatchError when it allows only later programs or holds another ledger, StatementError when
 * the login lacks a right, SessionLostError when Postgres is away.
 */
export const migrate = async (
  options: PostgresOptions,
  settings: LedgerSettings,
  migrations: readonly Migration[] = loadMigrations(),
): Promise<MigrateResult> => {
  const patient = {
    ...options,
    statementTimeoutMs: MIGRATION_TIMEOUT_MS,
    lockTimeoutMs: MIGRATION_TIMEOUT_MS,
  };
  const session = await Session.open(patient, {
    statements: [],
    idleInTransactionMs: MIGRATION_TIMEOUT_MS,
    asWriter: false,
  });
  try {
    await session.simple(`select pg_advisory_lock(${MIGRATION_LOCK})`);
    await session.simple(BOOTSTRAP);
    return await migrateLocked(session, settings, migrations);
  } finally {
    await session.close();
  }
};

const migrateLocked = async (
  session: Session,
  settings: LedgerSettings,
  migrations: readonly Migration[],
): Promise<MigrateResult> => {
  const [from = 0] = await session.query(readVersion);
  const applied: string[] = [];
  for (const migration of migrations.slice(from)) if (await apply(session, migration)) applied.push(migration.name);
  await session.simple('begin');
  const created = await createLedger(session, settings);
  await session.simple('commit');
  const [ledger] = await session.query(readLedger);
  if (ledger === undefined) throw new LedgerMismatchError('The ledger is gone right after it was looked for.');
  if (migrations.length < ledger.oldestProgram)
    throw new LedgerMismatchError(
      `This program is too old: it knows version ${migrations.length.toString()} of the schema, and the database allows ${ledger.oldestProgram.toString()} or later. Nothing was changed. Run a later release.`,
    );
  checkSettings(ledger, settings);
  return { from, to: ledger.schemaVersion, applied, created, ledger };
};

/** One migration in one transaction, claimed first. False when another had it. */
const apply = async (session: Session, migration: Migration): Promise<boolean> => {
  for (let attempt = 1; ; attempt++) {
    try {
      await session.simple('begin');
      const [claimed] = await session.query(claim, [migration.number.toString(), migration.name]);
      if (claimed !== undefined) await session.simple(migration.sql);
      await session.simple('commit');
      return claimed !== undefined;
    } catch (error) {
      // A role is the whole cluster's: two databases that grant it at the same moment get an internal error.
      const passing = error instanceof StatementError && error.code === SQLSTATE.internalError;
      if (error instanceof StatementError) await session.simple('rollback');
      if (!passing || attempt === ATTEMPTS_MAX) throw named(error, migration);
      await sleep(ATTEMPT_PAUSE_MS * attempt);
    }
  }
};

const named = (error: unknown, { number, name }: Migration): unknown => {
  if (!(error instanceof StatementError)) return error;
  const what = `Migration ${number.toString()} (${name}) was refused and undone: ${error.message}.`;
  const mend =
    error.code === SQLSTATE.insufficientPrivilege
      ? ' If it is about the role, a superuser mends it: CREATE ROLE holdfast_writer NOLOGIN (unless it is there); GRANT holdfast_writer TO this login.'
      : '';
  return new StatementError(error.code, `${what}${mend}`, error.constraint);
};
