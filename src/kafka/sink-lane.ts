import type { StoredEvent } from '../../events/index.js';
import type { DecodeBody, Reached, RunSink } from '../core/ports.js';
import { Alarm } from './alarm.js';
import type { Complaints } from './complaints.js';
import { reasonOf } from './errors.js';
import type { LogMessage } from './message.js';

/** Most events that wait for a sink, and most in one run. */
const QUEUE_MAX = 5_000;
const RUN_MAX = 500;
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5_000;

export interface LaneParts {
  readonly partition: number;
  readonly sink: RunSink;
  readonly reached: Reached;
  readonly decode: DecodeBody;
  readonly complaints: Complaints;
  /** Told once, with why, when an event can't be read. Must not raise. */
  readonly onStop: (partition: number, why: string) => void;
}

/** Hands one partition's events to the sink, run after run, in order. It decodes them as late as that. */
export class SinkLane {
  readonly #parts: LaneParts;
  readonly #alarm = new Alarm();
  #queue: LogMessage[] = [];
  #working: Promise<void> | undefined;
  #stopped: string | undefined;
  #closing = false;
  /** Events that were left out because the sink was too slow: it finds them in the journal. */
  skipped = 0;

  constructor(parts: LaneParts) {
    this.#parts = parts;
  }

  /** Why it goes no further. */
  get stopped(): string | undefined {
    return this.#stopped;
  }

  get full(): boolean {
    return this.#queue.length >= QUEUE_MAX && this.#stopped === undefined;
  }

  /** Takes events that follow on those taken before. When too many wait, those are left out and the next run starts here. */
  push(messages: readonly LogMessage[]): void {
    if (this.#stopped !== undefined || this.#closing || messages.length === 0) return;
    if (this.#queue.length >= QUEUE_MAX) {
      this.skipped += this.#queue.length;
      this.#queue = [];
    }
    this.#queue.push(...messages);
    this.#working ??= this.#work();
  }

  /** Takes no more; resolves when the run under way is done or given up. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#queue = [];
    this.#alarm.ring();
    await this.#working;
  }

  async #work(): Promise<void> {
    // Whoever pushes does not wait for the sink's own first step.
    await Promise.resolve();
    while (this.#queue.length > 0 && this.#stopped === undefined) {
      const run = this.#decodeNext();
      if (run.length > 0) await this.#hand(run);
    }
    // In the same step as the look at the queue, so that nothing is pushed in between and left lying.
    this.#working = undefined;
  }

  /** The next run, without what the sink has already, up to an event that can't be read. */
  #decodeNext(): StoredEvent[] {
    const run: StoredEvent[] = [];
    const reached = this.#parts.reached(this.#parts.partition);
    for (const { body, prevHash, hash, position } of this.#queue.splice(0, RUN_MAX)) {
      if (position <= reached) continue;
      try {
        run.push({ event: this.#parts.decode(body), body, prevHash, hash });
      } catch (error) {
        this.#stopped = `position ${position}: ${reasonOf(error)}`;
        this.#queue = [];
        this.#parts.onStop(this.#parts.partition, this.#stopped);
        break;
      }
    }
    return run;
  }

  async #hand(run: readonly StoredEvent[]): Promise<void> {
    const { sink, partition, complaints } = this.#parts;
    for (let waitMs = RETRY_MIN_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
      try {
        await sink(partition, run);
        return;
      } catch (error) {
        complaints.say(`sink of partition ${partition}`, error);
      }
      if (this.#isClosing()) return;
      await this.#alarm.wait(waitMs);
      if (this.#isClosing()) return;
    }
  }

  /** A method, since it changes while a run is handed over. */
  #isClosing(): boolean {
    return this.#closing;
  }
}
