/** The reference: the log and the state of one partition, made by the core alone, in memory. */
import { genesisHash } from '../../events/index.js';
import type { StoredEvent } from '../../events/index.js';
import type { Command } from '../../src/core/command.js';
import { DEFAULT_DECIDE_SETTINGS, execute } from '../../src/core/decide/index.js';
import type { Decision, LogTail } from '../../src/core/decide/index.js';
import { evolve } from '../../src/core/evolve.js';
import type { Appended, Head, Journal } from '../../src/core/ports.js';
import { initialState } from '../../src/core/state.js';
import type { LedgerState } from '../../src/core/state.js';

export const TEST_LEDGER = '00000000-0000-4000-8000-000000000001';

/** A log that Redis is driven beside: what appends to it, and where the events to apply come from. */
export interface DrivenLog extends Journal {
  /** Events after a position, at most `limit`. */
  read(after: number, limit: number): Promise<readonly StoredEvent[]>;
  /** Moves the journal's clock forward. */
  passTime(seconds: number): Promise<void>;
}

export class ReferenceLog implements DrivenLog {
  readonly state: LedgerState = initialState();
  readonly events: StoredEvent[] = [];
  /** The journal's clock, ms since 1970. Move it forward to let reservations expire. */
  nowMs = Date.parse('2030-01-01T00:00:00Z');
  private readonly tail: LogTail;

  constructor(
    readonly partition = 0,
    readonly incarnation = 1,
    ledger = TEST_LEDGER,
  ) {
    this.tail = { ledger, partition, incarnation, position: 0, hash: genesisHash(ledger, partition) };
  }

  /** Decides a command, folds its events, and returns both. */
  execute(command: Command): { readonly decision: Decision; readonly events: readonly StoredEvent[] } {
    const done = execute(this.state, this.tail, command, this.nowMs, DEFAULT_DECIDE_SETTINGS);
    this.events.push(...done.events);
    return done;
  }

  append(command: Command): Promise<Appended> {
    return Promise.resolve({ ...this.execute(command), partition: this.partition });
  }

  read(after: number, limit: number): Promise<readonly StoredEvent[]> {
    return Promise.resolve(this.events.slice(after, after + limit));
  }

  passTime(seconds: number): Promise<void> {
    this.nowMs += seconds * 1000;
    return Promise.resolve();
  }

  get head(): Head {
    return { partition: this.partition, position: this.tail.position, hash: this.tail.hash };
  }

  /** Events after a position. */
  after(position: number): readonly StoredEvent[] {
    return this.events.slice(position);
  }

  /** The state as of a position, folded from the first event. */
  stateAt(position: number): LedgerState {
    const state = initialState();
    for (const { event } of this.events.slice(0, position)) evolve(state, event);
    return state;
  }
}
