import type { LedgerEvent, StoredEvent } from '../../events/index.js';
import type { Command, Reserve } from './command.js';
import type { Decision } from './decide/index.js';
import type { Account, Funding, MaxCost, Reservation } from './state.js';

/** How to get from a tenant to its partition: fixed when the ledger is created. */
export interface LedgerIdentity {
  readonly ledger: string;
  readonly partitions: number;
  readonly incarnation: number;
}

/** A partition's last event: its position (0 when there is none) and hash (then the genesis hash). */
export interface Head {
  readonly partition: number;
  readonly position: number;
  readonly hash: string;
}

/** Up to where a projection has applied a partition. */
export interface Checkpoint extends Head {
  readonly incarnation: number;
}

/** A decision that is committed, with the events that it made (none for a replay or a rejection). */
export interface Appended {
  readonly decision: Decision;
  readonly partition: number;
  readonly events: readonly StoredEvent[];
}

/** The commit point. Raises UnavailableError when the command surely did not happen, or its outcome can't be learnt now. */
export interface Journal {
  append(command: Command): Promise<Appended>;
}

/** What the journal can be asked, at a position that is committed. None of these holds a transaction while it waits. */
export interface JournalReader {
  heads(partitions?: readonly number[]): Promise<Head[]>;
  /** Events after `position`, in order, at most `limit` (and about 1 MiB of bodies). */
  read(partition: number, after: number, limit: number): Promise<StoredEvent[]>;
  account(account: string): Promise<Account | undefined>;
  reservation(tenant: string, id: string): Promise<Reservation | undefined>;
  funding(tenant: string, kind: Funding['kind'], id: string): Promise<Funding | undefined>;
  maxCosts(models?: readonly string[]): Promise<MaxCost[]>;
}

/** What one try to hold in Redis came to. */
export type HoldOutcome =
  /** Taken now, or taken before under this id and not committed yet: append it with these amounts. */
  | { readonly kind: 'held'; readonly amounts: ReadonlyMap<string, bigint>; readonly attempt: string }
  /** The id's Reserved is applied: this is the first answer, with the present state. */
  | { readonly kind: 'known'; readonly reservation: Reservation }
  | {
      readonly kind: 'refused';
      readonly account: string;
      readonly unit: string;
      readonly available: bigint;
      readonly required: bigint;
    }
  /** Redis can't say: not ready, an account or amount missing, other contents under a known id. Nothing was taken. */
  | { readonly kind: 'ask_journal'; readonly why: string }
  /** The reply was lost: something may have been taken. Go to the journal, and settle or release afterwards. */
  | { readonly kind: 'unknown'; readonly attempt: string };

/** Redis as a guard. No call raises because Redis is away: that is 'ask_journal' or 'unknown'. */
export interface Holds {
  hold(partition: number, command: Reserve): Promise<HoldOutcome>;
  /** The journal refused it, or the append failed for certain. */
  release(partition: number, tenant: string, id: string, attempt: string): Promise<void>;
  /** The append found the id already known, at `position`. */
  settle(partition: number, tenant: string, id: string, position: number): Promise<void>;
}

export type ApplyOutcome =
  | { readonly kind: 'applied'; readonly checkpoint: number }
  /** The run starts too late: give what comes after `checkpoint` first. */
  | { readonly kind: 'gap'; readonly checkpoint: number }
  /** No checkpoint, or a rebuild is under way. */
  | { readonly kind: 'not_ready' }
  /** What Redis has applied is not what this log says. The script has taken the checkpoint away. */
  | { readonly kind: 'fork' }
  /** The run comes from before a restore. */
  | { readonly kind: 'stale_incarnation' }
  | { readonly kind: 'unreachable'; readonly why: string };

/** Redis as a projection. */
export interface BalancesStore {
  /** Applies a run of consecutive events of one partition; idempotent by checkpoint. */
  apply(partition: number, incarnation: number, run: readonly StoredEvent[]): Promise<ApplyOutcome>;
  /** The checkpoint; undefined when there is none or Redis can't be reached. */
  checkpoint(partition: number): Promise<Checkpoint | undefined>;
}

/** Turns a body from the log into an event, checked by the compiled schema. Raises UnknownEventError, or an Error that says what is wrong. */
export type DecodeBody = (body: string) => LedgerEvent;

/** Told of every group that this process commits, in order, right after the commit. Must not raise or block. */
export type OnCommitted = (partition: number, events: readonly StoredEvent[]) => void;

/** Says that a service is away. The caller answers 503 with Retry-After. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
  constructor(
    readonly code:
      'journal_unavailable' | 'journal_overloaded' | 'outcome_unknown' | 'replication_pending' | 'stopping',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What a key may do; each stands alone, but `admin` includes the rest. */
export const SCOPES = ['reserve', 'fund', 'read', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** A key as it is stored: never its text, only the SHA-256 of it. */
export interface ApiKey {
  /** Public part of the key's text; letters and digits only. */
  readonly id: string;
  /** SHA-256 (32 bytes) of the key's whole text. */
  readonly secretSha256: Uint8Array;
  /** Absent: the key is for all tenants. */
  readonly tenant?: string;
  readonly scopes: readonly Scope[];
  readonly label: string;
  /** Milliseconds since 1970 on Postgres's clock. */
  readonly createdAtMs: number;
  readonly revokedAtMs?: number;
}

/** Where keys are kept. Every call raises UnavailableError `journal_unavailable` when the database can't be asked. */
export interface KeyStore {
  /** Also finds revoked ones: whoever asks looks at `revokedAtMs`. */
  find(id: string): Promise<ApiKey | undefined>;
  /** All keys, revoked ones too, oldest first; at most 10,000. */
  list(): Promise<readonly ApiKey[]>;
  /** Stores a new key and returns it with its time. Raises an Error when the id is taken. */
  insert(key: Omit<ApiKey, 'createdAtMs' | 'revokedAtMs'>): Promise<ApiKey>;
  /** Revokes a key for good; a revoked one keeps its first time. Undefined when there is no such key. */
  revoke(id: string): Promise<ApiKey | undefined>;
  /** How many keys are not revoked: at first start, with 0, the program makes one and shows it once. */
  countActive(): Promise<number>;
}
