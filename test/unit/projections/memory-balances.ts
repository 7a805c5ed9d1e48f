/** A Redis and a journal small enough to see through, for the projection that stands between them. */
import type { StoredEvent } from '../../../events/index.js';
import { execute } from '../../../src/core/decide/index.js';
import type { ApplyOutcome, BalancesStore } from '../../../src/core/redis-ports.js';
import type { Checkpoint } from '../../../src/core/ports.js';
import { initialState } from '../../../src/core/state.js';
import { emptyTail } from '../core/given.js';
import { open, recharge } from '../core/orders.js';

/** A partition's log of so many events. */
export const logOf = (length: number): readonly StoredEvent[] => {
  const state = initialState();
  const tail = emptyTail();
  const log = [...execute(state, tail, open(), 0).events];
  for (let n = 1; n < length; n += 1) log.push(...execute(state, tail, recharge(1n, { id: `f${n}` }), 0).events);
  return log;
};

/** Applies what follows its checkpoint and refuses what does not, as the script does. */
export class MemoryBalances implements BalancesStore {
  /** The positions that were applied, in the order in which they were. */
  readonly applied: number[] = [];
  calls = 0;
  /** Answers this instead, when set. */
  instead: ApplyOutcome | undefined;
  /** When set, a call waits for it before it looks at anything. */
  hold: Promise<void> | undefined;

  constructor(public position: number | undefined = 0) {}

  async apply(_partition: number, _incarnation: number, run: readonly StoredEvent[]): Promise<ApplyOutcome> {
    this.calls += 1;
    await this.hold;
    if (this.instead !== undefined) return this.instead;
    if (this.position === undefined) return { kind: 'not_ready' };
    const first = run[0]?.event.position ?? 0;
    if (first > this.position + 1) return { kind: 'gap', checkpoint: this.position };
    for (const { event } of run)
      if (event.position > this.position) {
        if (event.position !== this.position + 1) throw new Error('A run has a gap inside.');
        this.position = event.position;
        this.applied.push(event.position);
      }
    return { kind: 'applied', checkpoint: this.position };
  }

  checkpoint(): Promise<Checkpoint | undefined> {
    const { position } = this;
    return Promise.resolve(position === undefined ? undefined : { partition: 0, position, hash: '', incarnation: 1 });
  }
}

/** The journal's log; only what is `committed` can be read. */
export class MemoryLog {
  reads = 0;
  /** Most events that one read gives, whatever is asked for: bodies may be large. */
  most = Number.POSITIVE_INFINITY;
  fails: Error | undefined;
  hold: Promise<void> | undefined;

  constructor(
    private readonly log: readonly StoredEvent[],
    public committed = log.length,
  ) {}

  async read(_partition: number, after: number, limit: number): Promise<StoredEvent[]> {
    this.reads += 1;
    const { committed } = this;
    await this.hold;
    if (this.fails !== undefined) throw this.fails;
    return this.log.slice(after, Math.min(committed, after + Math.min(limit, this.most)));
  }
}
