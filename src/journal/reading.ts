import type { DecodeBody, LedgerIdentity } from '../core/ports.js';
import { PostgresAudit } from './audit.js';
import { PostgresCheckpoints } from './checkpoints.js';
import { PostgresEpochs, EPOCH_STATEMENTS } from './epochs.js';
import { PostgresKeys, KEY_STATEMENTS } from './keys.js';
import type { PostgresOptions } from './options.js';
import { PostgresReader } from './reader.js';
import { Session } from './session.js';
import { Sessions } from './sessions.js';
import { PostgresSnapshots } from './snapshot.js';
import { ACCOUNT_STATEMENTS } from './sql/accounts.js';
import { AUDIT_STATEMENTS } from './sql/audit.js';
import { CHECKPOINT_STATEMENTS } from './sql/checkpoints.js';
import { FUNDING_STATEMENTS } from './sql/fundings.js';
import { HEAD_STATEMENTS } from './sql/heads.js';
import { LOG_STATEMENTS } from './sql/log.js';
import { MAX_COST_STATEMENTS } from './sql/max-costs.js';
import { RESERVATION_STATEMENTS } from './sql/reservations.js';
import { SNAPSHOT_STATEMENTS } from './sql/snapshot.js';
import { TRAIL_STATEMENTS } from './sql/trail.js';
import type { Statement } from './statement.js';
import { PostgresTrail } from './trail.js';

export interface ReadingOptions {
  readonly postgres: PostgresOptions;
  readonly identity: LedgerIdentity;
  readonly decode: DecodeBody;
  /** Most connections. Default 10. */
  readonly poolMax?: number;
  /** Most readers that wait for a connection. Default 1,000. */
  readonly queueMax?: number;
  /** The longest that a reader waits for a connection, ms. Default 5,000. */
  readonly waitMs?: number;
}

/** Everything that Postgres is asked beside the append path, over one pool of connections. */
export interface JournalReading {
  readonly reader: PostgresReader;
  readonly trail: PostgresTrail;
  readonly snapshots: PostgresSnapshots;
  readonly audit: PostgresAudit;
  readonly checkpoints: PostgresCheckpoints;
  readonly keys: PostgresKeys;
  readonly epochs: PostgresEpochs;
  close(): Promise<void>;
}

/** What the reading side runs. */
export const READING_STATEMENTS: readonly Statement<unknown>[] = [
  ...HEAD_STATEMENTS,
  ...LOG_STATEMENTS,
  ...ACCOUNT_STATEMENTS,
  ...RESERVATION_STATEMENTS,
  ...FUNDING_STATEMENTS,
  ...MAX_COST_STATEMENTS,
  ...TRAIL_STATEMENTS,
  ...SNAPSHOT_STATEMENTS,
  ...AUDIT_STATEMENTS,
  ...CHECKPOINT_STATEMENTS,
  ...KEY_STATEMENTS,
  ...EPOCH_STATEMENTS,
];

/** A snapshot's owner may compute between two reads, but not for longer: an old snapshot keeps dead rows alive. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/** Builds the reading side. It connects when it is first asked. */
export const openReading = (options: ReadingOptions): JournalReading => {
  const sessions = new Sessions({
    open: () =>
      Session.open(options.postgres, { statements: READING_STATEMENTS, idleInTransactionMs: IDLE_IN_TRANSACTION_MS }),
    max: options.poolMax ?? 10,
    queueMax: options.queueMax ?? 1_000,
    waitMs: options.waitMs ?? 5_000,
  });
  const source = {
    ledger: options.identity.ledger,
    partitions: options.identity.partitions,
    decode: options.decode,
  };
  return {
    reader: new PostgresReader(sessions, source),
    trail: new PostgresTrail(sessions, source),
    snapshots: new PostgresSnapshots(sessions, source),
    audit: new PostgresAudit(sessions, source.ledger),
    checkpoints: new PostgresCheckpoints(sessions),
    keys: new PostgresKeys(sessions),
    epochs: new PostgresEpochs(sessions),
    close: () => sessions.close(),
  };
};
