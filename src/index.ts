/** Holdfast in process: a ledger without HTTP, its events, and its errors. */
export { createLedger } from './compose.js';
export type { LedgerInProcess } from './compose.js';
export { ConfigError } from './config/load.js';
export type { ConfigInput } from './config/load.js';
export { NO_AMOUNTS } from './core/command.js';
export type { AmountsGiven } from './core/command.js';
export { UnavailableError } from './core/ports.js';
export type { Rejection, RejectionCode } from './core/rejection.js';
export type { Account, Funding, MaxCost, Reservation } from './core/state.js';
export { InvalidInputError } from './service/ledger.js';
export type * from './service/ledger.js';
