import { loadConfig } from '../config/load.js';
import type { Config } from '../config/settings.js';
import { openHoldfast } from '../compose.js';
import type { Holdfast } from '../compose.js';
import { createLogger } from '../logging.js';
import type { Result } from '../service/ledger.js';
import { defaultDataDir, readState } from '../stack/state.js';
import { ADDRESS_VARIABLES, SERVICE_NAMES } from '../stack/services.js';
import { RejectedError } from './exit.js';

/** The value of an accepted command. Raises RejectedError, which the command line tells in one line. */
export const accepted = <T>(result: Result<T>): Extract<Result<T>, { ok: true }> => {
  if (!result.ok) throw new RejectedError(result.rejection);
  return result;
};

/**
 * The configuration of a command: environment and file; where an address is missing, that of the stack which
 * `holdfast stack up` left running in this folder. Raises ConfigError.
 */
export const commandConfig = async (environment: NodeJS.ProcessEnv = process.env): Promise<Config> => {
  const merged = { ...environment };
  if (merged['HOLDFAST_CONFIG'] === undefined) {
    const state = await readState(defaultDataDir());
    for (const name of SERVICE_NAMES) {
      const record = state[name];
      if (record !== undefined) merged[ADDRESS_VARIABLES[name]] ??= record.address;
    }
  }
  return loadConfig(merged);
};

/** Opens the ledger for one command, without the bodies that a server runs, and closes it afterwards. */
export const withLedger = async <T>(body: (holdfast: Holdfast) => Promise<T>): Promise<T> => {
  const config = await commandConfig();
  const logger = createLogger({
    level: process.env['HOLDFAST_LOG_LEVEL'] === undefined ? 'warn' : config.log.level,
    destination: process.stderr,
  });
  const holdfast = await openHoldfast(config, { logger, roles: [] });
  try {
    return await body(holdfast);
  } finally {
    await holdfast.close();
  }
};
