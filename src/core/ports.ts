import type { LedgerEvent, SealedEvent, StoredEvent } from '../../events/index.js';
import type { Command } from './command.js';
import type { Decision } from './decide/index.js';
import type { AccountAt, AsOf, ReservationHistory, TrailPage, TrailSlice } from './history.js';
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

/** The log for those who pass it on unread: it gives events of a later release too. */
export interface SealedReader {
  /** As JournalReader's `read`. */
  readSealed(partition: number, after: number, limit: number): Promise<SealedEvent[]>;
}

/** An account's past. Every answer is an index look-up, however long the log is. */
export interface TrailReader {
  /** A page of the account's events with its balance after each; empty for an account that does not exist. */
  trail(account: string, page: TrailPage): Promise<TrailSlice>;
  /** The account as it was at a past moment (now, when `at` is absent). Undefined when it did not exist then. */
  accountAt(account: string, at?: AsOf): Promise<AccountAt | undefined>;
  /** A reservation and its events, oldest first. Undefined when the tenant has none of this id. */
  reservationHistory(tenant: string, id: string): Promise<ReservationHistory | undefined>;
}

/** What the accounts of a partition have in a unit, summed. Beyond 64 bits it may well be: no account holds it. */
export interface UnitTotal {
  readonly unit: string;
  readonly available: bigint;
  readonly held: bigint;
}

export interface TotalsReader {
  /** The sums of one partition. Raises UnavailableError. */
  totals(partition: number): Promise<readonly UnitTotal[]>;
}

/** A reservation that is open past its time. */
export interface Overdue {
  readonly partition: number;
  readonly tenant: string;
  readonly id: string;
  /** Milliseconds since 1970 on Postgres's clock. */
  readonly expiresAtMs: number;
}

export interface ExpiredReader {
  /** Open reservations past their time on Postgres's clock: of each partition the longest overdue, at most `limit` of each. */
  expired(partitions: readonly number[], limit: number): Promise<Overdue[]>;
}

/** One partition as it was at one moment: all answers agree with each other. Chunks hold at most `size` rows. */
export interface Snapshot {
  readonly head: Checkpoint;
  /** Postgres's clock when the snapshot was taken, ms since 1970. */
  readonly nowMs: number;
  accounts(size: number): AsyncIterable<readonly Account[]>;
  openReservations(size: number): AsyncIterable<readonly Reservation[]>;
  /** Reservations that were closed no longer than `withinMs` before `nowMs`, in the order of their closing. */
  closedReservations(withinMs: number, size: number): AsyncIterable<readonly Reservation[]>;
  maxCosts(): Promise<MaxCost[]>;
  /** Of these ids, those that the journal knows, in whatever state. */
  known(ids: readonly { readonly tenant: string; readonly id: string }[]): Promise<Reservation[]>;
  /** Of these accounts, those that exist in the partition. */
  accountsNamed(names: readonly string[]): Promise<Account[]>;
  /** Events after `position`, in order, at most `limit`. */
  events(after: number, limit: number): Promise<StoredEvent[]>;
}

export interface SnapshotReader {
  /** Runs `fn` on a snapshot (REPEATABLE READ, read only), which ends with it: `fn` should not wait for anything slow. */
  withSnapshot<T>(partition: number, fn: (snapshot: Snapshot) => Promise<T>): Promise<T>;
}

/** An office that one process holds at a time. It elects, it does not fence: two may believe in it for a moment. */
export interface Elected {
  /** Aborted once the office is lost (the connection that holds it broke) or released. */
  readonly signal: AbortSignal;
  release(): Promise<void>;
}

export interface Elections {
  /** Tries once, without waiting. Undefined when another process holds it, or Postgres is away. */
  tryElect(name: string, partition: number): Promise<Elected | undefined>;
}

export * from './redis-ports.js';

/** Turns a body from the log into an event, checked by the compiled schema. Raises UnknownEventError, or an Error that says what is wrong. */
export type DecodeBody = (body: string) => LedgerEvent;

/** Told of every group that this process commits, in order, right after the commit. Must not raise or block. */
export type OnCommitted = (partition: number, events: readonly StoredEvent[]) => void;

/** Where Kafka's copy of the log stands, asked by position and hash, whoever relayed it. */
export interface ReplicationConfirmer {
  /**
   * Resolves once Kafka holds the event at `position` with `hash`, acknowledged by all in-sync replicas; at once when it
   * already does. Raises UnavailableError `replication_pending` when that is not known in time (or never: a fork).
   */
  confirmed(partition: number, position: number, hash: string): Promise<void>;
}

/**
 * Takes a run of consecutive, decoded events of one partition, as the log on Kafka has them. The next run waits for it; one that
 * is rejected is handed over again. A run may start later than where the last one ended (the reader started at the tail, or
 * the sink was too slow): what is between is in the journal.
 */
export type RunSink = (partition: number, run: readonly StoredEvent[]) => Promise<void>;

/** The last position that a sink is known to have already: nothing up to there need be decoded for it. */
export type Reached = (partition: number) => number;

/** Up to where something else than Postgres has seen the log: a witness against a journal that went back (design, section 4). */
export interface Witness {
  /** As an operator knows it. */
  readonly name: string;
  /** True for a copy of the log: what it holds counts after a resume too, since a resume is refused while it is ahead. */
  readonly outlivesResume: boolean;
  /** The last event that it has of each partition; a partition of which it has none is missing. Raises when it can't be reached. */
  tails(): Promise<readonly Checkpoint[]>;
}

/** Says that a service is away. The caller answers 503 with Retry-After. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
  constructor(
    readonly code:
      | 'journal_unavailable'
      | 'journal_fenced'
      | 'journal_overloaded'
      | 'outcome_unknown'
      | 'replication_pending'
      | 'level_not_available'
      | 'stopping',
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
}
