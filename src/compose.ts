/** The only place where the parts are built and joined: a ledger in process, or a server. */
import { configFrom } from './config/load.js';
import type { ConfigInput } from './config/load.js';
import type { Config } from './config/settings.js';
import { openHoldfast } from './compose/open.js';
import { postgresOptions } from './compose/options.js';
import { migrate } from './journal/index.js';
import { createLogger } from './logging.js';
import type { Logger } from './logging.js';
import type { Ledger } from './service/ledger.js';

export { openHoldfast } from './compose/open.js';
export { SessionLostError } from './journal/index.js';
export type { Holdfast, OpenOptions } from './compose/open.js';
export type { ResumedLedger } from './compose/resume.js';
export { startServer } from './compose/serve.js';
export type { RunningServer } from './compose/serve.js';

/** What `migrate` did: schema versions (0 is an empty database), and whether it created the ledger. */
export interface Migrated {
  readonly from: number;
  readonly to: number;
  readonly created: boolean;
  /** The ledger's id. */
  readonly ledger: string;
}

/**
 * Brings the database to this program's schema and creates the ledger if there is none. Safe when two do it at once.
 * Raises LedgerMismatchError when the database is of a later release that shuts this one out, or holds another ledger.
 */
export const migrateDatabase = async (config: Config): Promise<Migrated> => {
  const options = postgresOptions(config, config.postgres.adminUrl ?? config.postgres.url);
  const { from, to, created, ledger } = await migrate(options, config.ledger);
  return { from, to, created, ledger: ledger.ledger };
};

/** A ledger in this process. */
export interface LedgerInProcess extends Ledger {
  /** Answers what is under way, then lets go of all connections. */
  close(): Promise<void>;
}

/**
 * Opens a ledger in process: the same operations as over HTTP, with no HTTP between. The background bodies run here too
 * unless `service.roles` says otherwise. The database must be migrated (`holdfast migrate`).
 * Raises ConfigError and what openHoldfast raises.
 */
export const createLedger = async (
  config: ConfigInput,
  options: { readonly logger?: Logger } = {},
): Promise<LedgerInProcess> => {
  const checked = configFrom(config);
  const logger = options.logger ?? createLogger({ level: checked.log.level });
  const holdfast = await openHoldfast(checked, { logger, roles: checked.service.roles });
  return { ...holdfast.ledger, close: () => holdfast.close() };
};
