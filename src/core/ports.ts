import type { Buckets, LedgerEvent, StoredEvent } from '../../events/index.js';
import type { Command, Reserve } from './command.js';
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

/** An account's past. Every answer is an index look-up, however long the log is. */
export interface TrailReader {
  /** A page of the account's events with its balance after each; empty for an account that does not exist. */
  trail(account: string, page: TrailPage): Promise<TrailSlice>;
  /** The account as it was at a past moment (now, when `at` is absent). Undefined when it did not exist then. */
  accountAt(account: string, at?: AsOf): Promise<AccountAt | undefined>;
  /** A reservation and its events, oldest first. Undefined when the tenant has none of this id. */
  reservationHistory(tenant: string, id: string): Promise<ReservationHistory | undefined>;
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
  /** A bucket would have left 64 bits: the script has taken the checkpoint away, and a rebuild heals it. */
  | { readonly kind: 'overflow' }
  | { readonly kind: 'unreachable'; readonly why: string };

/** Redis as a projection. */
export interface BalancesStore {
  /** Applies a run of consecutive events of one partition; idempotent by checkpoint. */
  apply(partition: number, incarnation: number, run: readonly StoredEvent[]): Promise<ApplyOutcome>;
  /** The checkpoint; undefined when there is none or Redis can't be reached. */
  checkpoint(partition: number): Promise<Checkpoint | undefined>;
}

/** Postgres remembers which Redis server holds each partition (design, section 3): a server that is another one, or that went back, gets a new epoch. */
export interface EpochRegistry {
  /**
   * Compares both ids with the stored ones, for each partition; on a difference stores them and raises the epoch, by
   * compare-and-set, so that of several nodes that notice at once one raises it. A partition with none stored gets epoch 1.
   * Returns the present epoch of each partition. Raises UnavailableError when Postgres can't be asked.
   */
  confirm(partitions: readonly number[], runId: string, replId: string): Promise<ReadonlyMap<number, number>>;
}

/** What Redis says of a partition. */
export interface PartitionInfo {
  readonly partition: number;
  /** Absent: there is none, so the partition needs a rebuild. */
  readonly checkpoint?: Checkpoint;
  /** The epoch that Redis knows, and the one that this node uses. Ready means: the partition is ready for this node. */
  readonly epoch: number;
  readonly ready: boolean;
  /** A rebuild has begun and not ended (its process may be gone: then it must be begun again). */
  readonly rebuilding: boolean;
  /** How many speculations there are now. */
  readonly speculations: number;
  /** How many reservations it knows, open or closed within the retention. */
  readonly reservations: number;
}

export type ReadyOutcome =
  | 'ready'
  /** The checkpoint is before `head`: apply first. */
  | 'behind'
  | 'no_checkpoint'
  | 'rebuilding'
  /** Another node has raised the epoch since: ask again a little later. */
  | 'epoch_differs'
  | 'unreachable';

/** For the readiness keeper. No call raises because Redis is away. */
export interface Readiness {
  /** One round trip for each Redis master. A partition that is absent from the answer can't be reached. */
  info(partitions: readonly number[]): Promise<ReadonlyMap<number, PartitionInfo>>;
  /** Replaces copies of a lower revision. False when Redis can't be reached. Before `ready`, and now and then to reconcile. */
  putMaxCosts(partition: number, maxCosts: readonly MaxCost[]): Promise<boolean>;
  /** Makes a partition ready if its checkpoint is at or past `head` (read from the journal after the epoch was raised). Any node may. */
  ready(partition: number, head: number): Promise<ReadyOutcome>;
}

/** A speculation's name: a hold in Redis whose Reserved is not yet applied there. */
export interface SpeculationId {
  readonly tenant: string;
  readonly id: string;
}

/** For the speculation sweeper. No call raises because Redis is away. */
export interface Orphans {
  /** Speculations older than 30 s on Redis's clock, at most `limit` of them; none when Redis can't be reached. */
  orphans(partition: number, limit: number): Promise<SpeculationId[]>;
  /** Gives one back if it is still older than 30 s. Returns whether it did. */
  voidOrphan(partition: number, tenant: string, id: string): Promise<boolean>;
}

/** Raised by a rebuild's steps: Redis is away, or another rebuild has begun. What was written is fenced off: begin again. */
export class RebuildLostError extends Error {
  override readonly name = 'RebuildLostError';
  constructor(
    readonly partition: number,
    readonly reason: 'superseded' | 'unreachable',
    options?: ErrorOptions,
  ) {
    super(`The rebuild of partition ${partition.toString()} in Redis was lost: ${reason}.`, options);
  }
}

/** A reservation to load, with the time of the event that closed it (ms since 1970) when it is closed. */
export interface LoadedReservation {
  readonly reservation: Reservation;
  readonly closedAtMs?: number;
}

/** A rebuild under way: one partition, fenced by a token. Steps in any order, each as often as needed; each splits its input into short scripts. */
export interface Rebuild {
  readonly partition: number;
  /** The speculations that there were at its begin. No other joins them before its end. */
  readonly speculations: readonly SpeculationId[];
  accounts(accounts: readonly Account[]): Promise<void>;
  /** All that are open, and those closed within the retention, these oldest first. */
  reservations(reservations: readonly LoadedReservation[]): Promise<void>;
  /** Of `speculations`, those that the journal knows (open or closed): their events are in the account rows already. */
  dropKnown(known: readonly SpeculationId[]): Promise<void>;
  maxCosts(maxCosts: readonly MaxCost[]): Promise<void>;
  /** Deducts the speculations left, sets the checkpoint. Not yet ready: that is `Readiness.ready`. Returns how many it deducted and how many it had to drop. */
  end(checkpoint: Checkpoint): Promise<{ readonly deducted: number; readonly dropped: number }>;
}

/** Redis as what a rebuild writes to. */
export interface RebuildTarget {
  /**
   * Refuses holds and applies from now on and drops what Redis knows, save speculations. Read the journal after this returned, in one snapshot.
   * Raises RebuildLostError, as do all steps.
   */
  begin(partition: number): Promise<Rebuild>;
}

/** Accounts as Redis holds them at a checkpoint, all from one instant. Amounts in the unit's smallest part. */
export interface BalanceSample {
  readonly checkpoint: Checkpoint;
  /** The buckets as they stand, speculations deducted; an account that Redis does not have is absent. */
  readonly accounts: ReadonlyMap<string, Buckets>;
  /** Every speculation of the partition: what it took from which account. Buckets less these are what the log says at the checkpoint. */
  readonly speculations: readonly (SpeculationId & { readonly taken: ReadonlyMap<string, bigint> })[];
}

/** For verify and the healing pass. */
export interface BalancesReader {
  /** Reads up to 1,000 accounts in one script; undefined when there is no checkpoint or Redis can't be reached. */
  sample(partition: number, accounts: readonly string[]): Promise<BalanceSample | undefined>;
  /** A page of the account names that Redis has, in no order (some may come twice); `cursor` is '0' at the start and at the end. */
  accountNames(
    partition: number,
    cursor: string,
  ): Promise<{ readonly names: string[]; readonly cursor: string } | undefined>;
}

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

/** Takes a run of consecutive, decoded events of one partition, as the log on Kafka has them. The next run waits for it. */
export type RunSink = (partition: number, run: readonly StoredEvent[]) => Promise<void>;

/** A lock that is held. It elects and does not fence: two may believe for a moment that they hold it. */
export interface Leadership {
  /** Aborted as soon as the lock is known or feared to be lost. */
  readonly lost: AbortSignal;
  /** Gives it back. Idempotent; never raises. */
  release(): Promise<void>;
}

/** Elects at most one holder per role and partition among all processes. */
export interface Election {
  /** Undefined when another holds it. Does not wait for it. Raises UnavailableError when the lock service is away. */
  tryElect(role: 'relay', partition: number): Promise<Leadership | undefined>;
}

/** Up to where another copy of the log goes: a witness against a journal that went back (design, section 4). */
export interface LogWitness {
  /** The last event that it holds of each partition; a partition of which it holds none is missing. Raises when it can't be reached. */
  tails(partitions: readonly number[]): Promise<Checkpoint[]>;
}

/** Says that a service is away. The caller answers 503 with Retry-After. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
  constructor(
    readonly code:
      | 'journal_unavailable'
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
  /** How many keys are not revoked: at first start, with 0, the program makes one and shows it once. */
  countActive(): Promise<number>;
}
