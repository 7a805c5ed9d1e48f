/** What the ledger asks of Redis: a guard for reserves, a projection of balances, and how both are kept true. */
import type { Buckets, StoredEvent } from '../../events/index.js';
import type { Reserve } from './command.js';
import type { Checkpoint } from './ports.js';
import type { Account, MaxCost, Reservation } from './state.js';

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
  /**
   * Redis knows a higher epoch than Postgres (the database is another one, or went back): makes it `epoch`, unless it is as high
   * already. Returns the present one. Raises UnavailableError when Postgres can't be asked.
   */
  raiseTo(partition: number, epoch: number): Promise<number>;
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
  /** How many accounts its set of names has. */
  readonly accounts: number;
  /** How many closings it remembers, to drop their records in that order. */
  readonly closings: number;
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

/** A rebuild under way: one partition, fenced by a token. Steps in any order, each as often as needed; each splits its input into short scripts. */
export interface Rebuild {
  readonly partition: number;
  /** The speculations that there were at its begin. No other joins them before its end. */
  readonly speculations: readonly SpeculationId[];
  accounts(accounts: readonly Account[]): Promise<void>;
  /** All that are open, and those closed within the hour, which Redis remembers for another hour from now. */
  reservations(reservations: readonly Reservation[]): Promise<void>;
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
  /** Their units. */
  readonly units: ReadonlyMap<string, string>;
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
  /**
   * A page of the records of reservations, in no order (some may come twice), with the checkpoint at the instant of the reading;
   * undefined when there is none or Redis can't be reached. While the checkpoint stays, so do the records.
   */
  records(partition: number, cursor: string): Promise<RecordPage | undefined>;
  /** Of these reservations, whether Redis has a record; with the checkpoint of that instant. Undefined as above. */
  knowsRecords(
    partition: number,
    ids: readonly SpeculationId[],
  ): Promise<{ readonly checkpoint: Checkpoint; readonly known: readonly boolean[] } | undefined>;
}

/** Some of the records that Redis has of a partition's reservations. */
export interface RecordPage {
  readonly checkpoint: Checkpoint;
  readonly records: readonly {
    /** `tenant/id`. */
    readonly name: string;
    /** Absent: the record is in no form that this program writes. Metadata is not kept. */
    readonly reservation: Reservation | undefined;
  }[];
  readonly cursor: string;
}
