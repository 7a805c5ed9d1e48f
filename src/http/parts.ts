import type { KeyStore } from '../core/ports.js';
import type { Logger } from '../logging.js';
import type { Metrics } from '../metrics/index.js';
import type { Ledger } from '../service/ledger.js';
import type { Build, Readiness } from './readiness.js';

/** What the HTTP interface bounds. Times in milliseconds unless named otherwise. */
export interface HttpLimits {
  /** Requests under way at once; beyond it the answer is 503. */
  readonly maxInFlight: number;
  readonly maxConnections: number;
  /** Bytes of a body, and of a batch's. */
  readonly bodyBytesMax: number;
  readonly batchBytesMax: number;
  /** How long a request may take to arrive, with its body; its headers alone. */
  readonly requestMs: number;
  readonly headersMs: number;
  /** How long an idle connection is kept open. */
  readonly keepAliveMs: number;
  /** How long a stop waits for requests under way. */
  readonly stopGraceMs: number;
  /** Longest time to live that a reserve or an extend may ask for. */
  readonly ttlMaxSeconds: number;
}

export const DEFAULT_LIMITS: HttpLimits = {
  maxInFlight: 10_000,
  maxConnections: 20_000,
  bodyBytesMax: 64 * 1024,
  batchBytesMax: 1024 * 1024,
  requestMs: 30_000,
  headersMs: 10_000,
  // Longer than the minute of common load balancers: the one that closes first must be theirs.
  keepAliveMs: 72_000,
  stopGraceMs: 10_000,
  ttlMaxSeconds: 3600,
};

/** What the HTTP interface is made of. */
export interface HttpParts {
  readonly ledger: Ledger;
  readonly keys: Pick<KeyStore, 'find'>;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly build: Build;
  readonly limits?: Partial<HttpLimits>;
  /** Health, readiness, metrics and the document only, for a process that does not serve the ledger. */
  readonly operationsOnly?: boolean;
}
