/** The journal on Postgres: the log, the commit point, and everything that can be asked of it. */
export type { PostgresAudit } from './audit.js';
export { PostgresElections } from './elections.js';
export type { ElectionOptions } from './elections.js';
export { LedgerMismatchError, SessionLostError, StatementError } from './errors.js';
export { PostgresJournal } from './journal.js';
export type { JournalOptions } from './journal.js';
export type { GroupReport } from './lane.js';
export { openLedger } from './ledger.js';
export type { ClusterMark, LedgerRecord, LedgerSettings } from './ledger.js';
export { migrate } from './migrate.js';
export type { MigrateResult } from './migrate.js';
export { PROGRAM_VERSION } from './migration-files.js';
export type { PostgresOptions } from './options.js';
export { openReading } from './reading.js';
export type { JournalReading, ReadingOptions } from './reading.js';
