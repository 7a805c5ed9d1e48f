import { EMPTY_BUCKETS, addPosting } from '../../events/index.js';
import type { Buckets, StoredEvent } from '../../events/index.js';
import type { TrailRow } from '../core/audit.js';
import type { Command } from '../core/command.js';
import { execute } from '../core/decide/index.js';
import type { DecideSettings, Decision, LogTail } from '../core/decide/index.js';
import { evolve } from '../core/evolve.js';
import { reservationKey } from '../core/state.js';
import type { LedgerState } from '../core/state.js';
import { JournalMovedError } from './errors.js';
import type { Loaded } from './needs.js';
import type { Clock, LockedHead } from './sql/heads.js';
import { trailPostings } from '../core/trail-postings.js';

/** A command with the partition that its tenant lives in. */
export interface Placed {
  readonly command: Command;
  readonly partition: number;
}

/** What became of one command of a group: the ledger's word and its events, or the bug that it ran into. */
export type Outcome =
  | { readonly kind: 'decided'; readonly decision: Decision; readonly events: readonly StoredEvent[] }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A group that is decided and not yet written. */
export interface Decided {
  /** In the order of the commands. */
  readonly outcomes: readonly Outcome[];
  readonly state: LedgerState;
  /** In the order in which they were made; within a partition by position. */
  readonly events: readonly StoredEvent[];
  readonly trail: readonly TrailRow[];
  readonly heads: readonly LockedHead[];
  /** By reservationKey: the positions of each reservation's events. */
  readonly positions: ReadonlyMap<string, readonly number[]>;
  /** By reservationKey: the time of each reservation's last event in the group, ms since 1970. */
  readonly times: ReadonlyMap<string, number>;
}

interface Partition {
  readonly tail: LogTail;
  nowMs: number;
}

/**
 * Decides a group, each command on the state that the one before left. A command whose decision raises (a bug) fails
 * alone: had it changed anything by then, the whole group is decided again without it.
 */
export const decideGroup = (
  placed: readonly Placed[],
  heads: readonly LockedHead[],
  clock: Clock,
  loaded: Loaded,
  settings: DecideSettings,
): Decided => {
  const failed = new Map<number, unknown>();
  for (;;) {
    const run = new GroupRun(heads, clock, loaded, settings);
    const spoilt = run.decideAll(placed, failed);
    if (!spoilt) return run.result();
  }
};

/**
 * Makes a group of events that are given, not decided: what a restore takes from Kafka. Raises JournalMovedError when one does not
 * follow on the head of its partition.
 */
export const foldGroup = (
  events: readonly StoredEvent[],
  heads: readonly LockedHead[],
  clock: Clock,
  loaded: Loaded,
): Decided => {
  const run = new GroupRun(heads, clock, loaded, { raiseFactor: 1n });
  run.foldAll(events);
  return run.result();
};

class GroupRun {
  readonly #settings: DecideSettings;
  readonly #partitions = new Map<number, Partition>();
  readonly #state: LedgerState;
  readonly #before: LedgerState;
  readonly #balances = new Map<string, Buckets>();
  readonly #positions: Map<string, readonly number[]>;
  readonly #outcomes: Outcome[] = [];
  readonly #events: StoredEvent[] = [];
  readonly #trail: TrailRow[] = [];
  readonly #written = new Set<number>();
  readonly #times = new Map<string, number>();

  constructor(heads: readonly LockedHead[], clock: Clock, loaded: Loaded, settings: DecideSettings) {
    this.#settings = settings;
    for (const { partition, position, hash, lastEventMs } of heads) {
      const tail = { ledger: clock.ledger, partition, incarnation: clock.incarnation, position, hash };
      this.#partitions.set(partition, { tail, nowMs: Math.max(lastEventMs, clock.nowMs) });
    }
    this.#before = loaded.state;
    const { accounts, reservations, fundings, references, maxCosts } = loaded.state;
    this.#state = {
      accounts: new Map(accounts),
      reservations: new Map(reservations),
      fundings: new Map(fundings),
      references: new Map(references),
      maxCosts: new Map(maxCosts),
    };
    this.#positions = new Map(loaded.positions);
  }

  /** False when all went well, or what raised had changed nothing yet; true when it must be done again without it. */
  decideAll(placed: readonly Placed[], failed: Map<number, unknown>): boolean {
    for (const [index, { command, partition }] of placed.entries()) {
      if (failed.has(index)) {
        this.#outcomes.push({ kind: 'failed', error: failed.get(index) });
        continue;
      }
      const at = this.#partitions.get(partition);
      if (at === undefined) throw new Error(`Partition ${partition.toString()} has no head.`);
      const before = at.tail.position;
      try {
        const { decision, events } = execute(this.#state, at.tail, command, at.nowMs, this.#settings);
        for (const stored of events) this.#note(stored);
        this.#outcomes.push({ kind: 'decided', decision, events });
      } catch (error) {
        failed.set(index, error);
        if (at.tail.position !== before) return true;
        this.#outcomes.push({ kind: 'failed', error });
      }
    }
    return false;
  }

  foldAll(events: readonly StoredEvent[]): void {
    for (const stored of events) {
      const { event, prevHash, hash } = stored;
      const at = this.#partitions.get(event.partition);
      if (at === undefined) throw new Error(`Partition ${event.partition.toString()} has no head.`);
      if (event.position !== at.tail.position + 1 || prevHash !== at.tail.hash)
        throw new JournalMovedError(event.partition, at.tail.position, event.position);
      evolve(this.#state, event);
      at.tail.position = event.position;
      at.tail.hash = hash;
      at.nowMs = event.timeMs;
      this.#note(stored);
    }
  }

  result(): Decided {
    const heads: LockedHead[] = [];
    for (const [partition, { tail, nowMs }] of this.#partitions) {
      if (!this.#written.has(partition)) continue;
      heads.push({ partition, position: tail.position, hash: tail.hash, lastEventMs: nowMs });
    }
    return {
      outcomes: this.#outcomes,
      state: this.#state,
      events: this.#events,
      trail: this.#trail,
      heads,
      positions: this.#positions,
      times: this.#times,
    };
  }

  #note(stored: StoredEvent): void {
    const { event } = stored;
    this.#events.push(stored);
    this.#written.add(event.partition);
    if ('reservation_id' in event.data) {
      const key = reservationKey(event.tenant, event.data.reservation_id);
      this.#positions.set(key, [...(this.#positions.get(key) ?? []), event.position]);
      this.#times.set(key, event.timeMs);
    }
    for (const posting of trailPostings(event)) {
      const { account } = posting;
      const before = this.#balances.get(account) ?? this.#before.accounts.get(account) ?? EMPTY_BUCKETS;
      const after = addPosting(before, posting);
      this.#balances.set(account, after);
      this.#trail.push({ account, position: event.position, partition: event.partition, after });
    }
  }
}
