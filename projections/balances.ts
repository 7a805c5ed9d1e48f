import type { StoredEvent } from '../events/index.js';
import type { JournalReader } from '../src/core/ports.js';
import type { ApplyOutcome, BalancesStore } from '../src/core/redis-ports.js';

/*
 * The balances in Redis, as a projection. It keeps, per partition, what an account holds in its four buckets, and a
 * checkpoint: position, hash and incarnation of the last event applied. It restarts from that checkpoint, whoever set it;
 * where there is none, a rebuild makes one (src/recovery). Events come from three sides, in any order and any number of
 * times: from the process that committed them, from Kafka, and from the journal when there is a gap.
 */

/** Most events in one call of the script: a writing script can't be killed, so each is kept short. */
const RUN_MAX = 200;
/** Most events that wait for a partition; what is beyond is dropped here and read from the journal. */
const WAITING_MAX = 5000;

export interface BalancesParts {
  readonly store: BalancesStore;
  readonly reader: Pick<JournalReader, 'read'>;
  /** The ledger's incarnation as this process knows it. */
  readonly incarnation: () => number;
  /** The partition can't be applied to: no checkpoint, a fork, or an older incarnation. Must not raise. */
  readonly onStuck: (partition: number, why: ApplyOutcome['kind']) => void;
  /** An error nobody waits for. Must not raise. */
  readonly onError: (partition: number, error: unknown) => void;
  /** How long `visible` waits, ms. */
  readonly visibleTimeoutMs?: number;
}

interface Waiter {
  readonly position: number;
  readonly done: (seen: boolean) => void;
}

interface Lane {
  /** Highest checkpoint that Redis has answered; undefined until the first answer. */
  checkpoint: number | undefined;
  waiting: StoredEvent[];
  /** Something was dropped, or a catch-up was asked for: look into the journal. */
  behind: boolean;
  running: Promise<void> | undefined;
  waiters: Waiter[];
}

/** Applies runs of events to Redis, one call at a time for each partition. */
export class BalancesProjection {
  private readonly lanes = new Map<number, Lane>();
  private stopped = false;

  constructor(private readonly parts: BalancesParts) {}

  /** Takes events that are committed, in order. Returns at once; what can't be applied now is found in the journal later. */
  offer(partition: number, run: readonly StoredEvent[]): void {
    const lane = this.lane(partition);
    if (lane.waiting.length + run.length > WAITING_MAX) {
      lane.waiting = [];
      lane.behind = true;
    } else lane.waiting.push(...run);
    this.start(partition, lane);
  }

  /** Takes a run and waits until it is worked off: what the Kafka consumer uses, so that it does not run ahead. */
  async take(partition: number, run: readonly StoredEvent[]): Promise<void> {
    const lane = this.lane(partition);
    const last = run.at(-1)?.event.position ?? 0;
    if (lane.checkpoint !== undefined && last <= lane.checkpoint) return;
    this.offer(partition, run);
    await lane.running;
  }

  /** The last position that Redis is known to show; 0 when that is not known. */
  reached(partition: number): number {
    return this.lanes.get(partition)?.checkpoint ?? 0;
  }

  /** Applies from the journal whatever Redis does not have yet. Resolves when there is no more, or it can't go on. */
  async catchUp(partition: number): Promise<void> {
    const lane = this.lane(partition);
    // Whoever asks has seen that Redis lacks something: it may have gone back behind what it last answered.
    lane.checkpoint = undefined;
    lane.behind = true;
    this.start(partition, lane);
    await lane.running;
  }

  /** Resolves true once Redis shows `position`; false when it does not in time, or the partition is not ready. */
  async visible(partition: number, position: number): Promise<boolean> {
    const lane = this.lane(partition);
    if (lane.checkpoint !== undefined && lane.checkpoint >= position) return true;
    if (this.stopped) return false;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        lane.waiters = lane.waiters.filter((waiter) => waiter !== entry);
        resolve(false);
      }, this.parts.visibleTimeoutMs ?? 1000);
      const entry: Waiter = {
        position,
        done: (seen) => {
          clearTimeout(timer);
          resolve(seen);
        },
      };
      lane.waiters.push(entry);
      if (lane.running === undefined) {
        lane.behind = true;
        this.start(partition, lane);
      }
    });
  }

  /** Takes no more; resolves when what was under way is done. */
  async stop(): Promise<void> {
    this.stopped = true;
    for (const lane of this.lanes.values()) await lane.running;
  }

  private lane(partition: number): Lane {
    let lane = this.lanes.get(partition);
    if (lane === undefined) {
      lane = { checkpoint: undefined, waiting: [], behind: false, running: undefined, waiters: [] };
      this.lanes.set(partition, lane);
    }
    return lane;
  }

  private start(partition: number, lane: Lane): void {
    if (lane.running === undefined && !this.stopped && hasWork(lane)) lane.running = this.work(partition, lane);
  }

  /** Ends, and says so, in the same turn in which it finds nothing more to do: whoever comes later starts it again. */
  private async work(partition: number, lane: Lane): Promise<void> {
    try {
      while (hasWork(lane)) {
        const run = await this.nextRun(partition, lane);
        if (run.length === 0) continue;
        const outcome = await this.parts.store.apply(partition, this.parts.incarnation(), run);
        if (!this.learn(partition, lane, outcome)) break;
      }
    } catch (error) {
      // What waited is in the journal too, and is fetched from there at the next occasion.
      lane.waiting = [];
      lane.behind = false;
      this.parts.onError(partition, error);
    }
    lane.running = undefined;
    tell(lane, Number.POSITIVE_INFINITY, false);
    this.start(partition, lane);
  }

  /** The next events that Redis lacks: those at hand, or from the journal where there is a gap. */
  private async nextRun(partition: number, lane: Lane): Promise<readonly StoredEvent[]> {
    const known = lane.checkpoint;
    if (known !== undefined) lane.waiting = lane.waiting.filter(({ event }) => event.position > known);
    const first = lane.waiting[0]?.event.position;
    if (lane.behind || (known !== undefined && first !== undefined && first > known + 1))
      return this.fromJournal(partition, lane, first);
    const run = consecutive(lane.waiting, RUN_MAX);
    lane.waiting = lane.waiting.slice(run.length);
    return run;
  }

  /** `first`: where the events at hand begin. More may come in, or be asked for, while the journal answers. */
  private async fromJournal(partition: number, lane: Lane, first: number | undefined): Promise<readonly StoredEvent[]> {
    const atHand = lane.waiting.length;
    lane.behind = false;
    const from = lane.checkpoint ?? (await this.parts.store.checkpoint(partition))?.position;
    if (from === undefined) {
      this.learn(partition, lane, { kind: 'not_ready' });
      return [];
    }
    const run = await this.parts.reader.read(partition, from, RUN_MAX);
    const last = run.at(-1);
    // Someone told of events that the journal does not have (it was restored, or the message is foreign): never apply those.
    if (last === undefined) lane.waiting = lane.waiting.slice(atHand);
    // A short run is not the end, for the journal bounds a run by its bytes too: nothing more, or what meets the events at hand, is.
    else if (first === undefined || first > last.event.position + 1) lane.behind = true;
    return run;
  }

  /** Draws the conclusion from an answer. False: stop here, this partition can't be applied to now. */
  private learn(partition: number, lane: Lane, outcome: ApplyOutcome): boolean {
    switch (outcome.kind) {
      case 'applied':
        lane.checkpoint = outcome.checkpoint;
        tell(lane, outcome.checkpoint, true);
        return true;
      case 'gap':
        lane.checkpoint = outcome.checkpoint;
        lane.behind = true;
        return true;
      case 'not_ready':
      case 'fork':
      case 'stale_incarnation':
      case 'overflow':
        forget(lane);
        this.parts.onStuck(partition, outcome.kind);
        return false;
      case 'unreachable':
        forget(lane);
        return false;
    }
  }
}

const hasWork = (lane: Lane): boolean => lane.waiting.length > 0 || lane.behind;

/** What is known of Redis is no longer sure: it may have gone back. */
const forget = (lane: Lane): void => {
  lane.checkpoint = undefined;
  lane.waiting = [];
  lane.behind = false;
};

const tell = (lane: Lane, upTo: number, seen: boolean): void => {
  const told = lane.waiters.filter((waiter) => waiter.position <= upTo);
  if (told.length === 0) return;
  lane.waiters = lane.waiters.filter((waiter) => waiter.position > upTo);
  for (const waiter of told) waiter.done(seen);
};

/** The events at the start that follow each other without a gap, at most `limit`; duplicates are passed over. */
const consecutive = (events: readonly StoredEvent[], limit: number): readonly StoredEvent[] => {
  const run: StoredEvent[] = [];
  for (const stored of events) {
    const last = run.at(-1);
    if (last !== undefined && stored.event.position !== last.event.position + 1) break;
    run.push(stored);
    if (run.length === limit) break;
  }
  return run;
};
