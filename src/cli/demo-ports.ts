import type { JournalReader } from '../core/ports.js';
import type { Progress } from '../stack/index.js';

/** How many differences there are between the copies of the log and of the balances. All must be 0. */
export interface DriftCount {
  /** Events whose chain is broken, and account rows that are not the sum of their postings. */
  readonly postgres: number;
  /** Messages that differ from the journal, are missing, or are too many. */
  readonly kafka: number;
  /** Accounts whose balance in Redis, less speculations, differs. */
  readonly redis: number;
}

/** A server on a stack of its own, for the length of a demo. */
export interface DemoTarget {
  readonly baseUrl: string;
  /** A key for all tenants with every scope. Shown only with `--keep`. */
  readonly key: string;
  /** Where the services, their data and logs are, a line each. */
  readonly places: readonly string[];
  readonly log: Pick<JournalReader, 'heads' | 'read'>;
  /** Waits until Kafka has everything, then compares all copies. */
  verify(): Promise<DriftCount>;
  /**
   * FLUSHALL on the Redis of this very stack; on one that others may use, only what is the demo's goes, or nothing:
   * then it says why.
   */
  emptyRedis(): Promise<{ readonly keys: number } | { readonly refused: string }>;
  /** For how many partitions Redis answers now, as Redis itself says (not as remembered); for the others the journal does. */
  readiness(): Promise<{ readonly ready: number; readonly partitions: number }>;
  /** Stops the server and what was started for it; with `keep`, leaves both running. Idempotent. */
  stop(): Promise<void>;
}

export interface BringUpOptions {
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** The stack and the server go on after the demo ended. */
  readonly keep: boolean;
}

/** What the demo needs of the rest of Holdfast. */
export interface DemoPorts {
  /** Raises StackError when a service can't be had, or when it was interrupted. */
  bringUp(options: BringUpOptions): Promise<DemoTarget>;
}
