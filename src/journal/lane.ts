import type { StoredEvent } from '../../events/index.js';
import { UnavailableError } from '../core/ports.js';
import type { Appended, OnCommitted } from '../core/ports.js';
import type { Placed } from './decided.js';
import { SessionLostError, StatementError, isCausedByData, toUnavailable } from './errors.js';
import { CommitUnknownError, runGroup } from './group.js';
import type { GroupContext, GroupResult } from './group.js';
import { learnOutcome } from './outcome.js';
import type { Session } from './session.js';

/** A command that waits for its answer. */
export interface Pending extends Placed {
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: unknown) => void;
  /** When it came, on the process's monotonic clock, ms. */
  readonly sinceMs: number;
}

/** What happened to one group: for metrics. */
export interface GroupReport {
  readonly commands: number;
  readonly events: number;
  /** From the group's start to its commit. */
  readonly durationMs: number;
}

export interface LaneOptions {
  readonly context: GroupContext;
  readonly openSession: () => Promise<Session>;
  readonly groupMax: number;
  /** The longest that a command may wait for its group to begin. */
  readonly waitMs: number;
  readonly outcomeTimeoutMs: number;
  readonly onCommitted: OnCommitted;
  readonly onGroup: (report: GroupReport) => void;
  /** Told of what an operator should see: bugs, lost connections, unknown outcomes. */
  readonly onFault: (error: unknown, what: string) => void;
}

const SWEEP_MS = 100;
const GROUP_TRIES_MAX = 3;
/** Deadlock found, serialization failure: the same group may pass when tried again. */
const PASSING: ReadonlySet<string> = new Set(['40P01', '40001']);
/** A connection that breaks this soon (Postgres was restarted while the lane lay idle) is worth a new one; later, callers have waited enough. */
const PROMPT_MS = 1_000;

const isPassing = (error: unknown): boolean => error instanceof StatementError && PASSING.has(error.code);
const isPrompt = (begunMs: number): boolean => performance.now() - begunMs < PROMPT_MS;

/**
 * One connection that commits groups, one after the other. While one is under way the next gathers; no timer: a command
 * that finds the lane idle starts a group with whatever arrives in the same turn of the event loop.
 */
export class Lane {
  readonly #options: LaneOptions;
  readonly #queue: Pending[] = [];
  #session: Session | undefined;
  #running: Promise<void> | undefined;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  push(pending: Pending): void {
    this.#queue.push(pending);
    this.#running ??= this.#run();
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS);
  }

  /** Connects before the first command comes. Never raises. */
  async connect(): Promise<void> {
    try {
      await this.#connected();
    } catch (error) {
      this.#options.onFault(error, 'no connection to write over');
    }
  }

  /** Resolves once everything that waits has its answer; then the connection is closed. */
  async drain(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    await this.#session?.close();
    this.#session = undefined;
  }

  async #run(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#queue.length > 0) await this.#answer(this.#queue.splice(0, this.#options.groupMax));
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
    this.#running = undefined;
  }

  /** Commits a group and answers every command of it. Never raises. */
  async #answer(group: readonly Pending[]): Promise<void> {
    const start = performance.now();
    let result: GroupResult;
    try {
      result = await this.#commit(group);
    } catch (error) {
      if (isCausedByData(error) && group.length > 1) return this.#answerSingly(group, error);
      this.#options.onFault(error, `a group of ${group.length.toString()} commands was not committed`);
      for (const pending of group) pending.reject(toUnavailable(error));
      return;
    }
    const { onGroup } = this.#options;
    const durationMs = performance.now() - start;
    this.#guarded('onGroup', () => onGroup({ commands: group.length, events: result.events.length, durationMs }));
    this.#announce(result.events);
    this.#settle(group, result);
  }

  /** What is told of a commit can't undo it: a listener that raises is reported, and the callers get their answers. */
  #guarded(what: string, tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#options.onFault(error, `${what} raised`);
    }
  }

  /** One command's data that Postgres refuses must not fail the others: each gets a group of its own. */
  async #answerSingly(group: readonly Pending[], error: unknown): Promise<void> {
    this.#options.onFault(error, 'a group was refused for its data; its commands are tried one by one');
    for (const pending of group) await this.#answer([pending]);
  }

  async #commit(group: readonly Pending[]): Promise<GroupResult> {
    const begun = performance.now();
    for (let attempt = 1; ; attempt++) {
      const session = await this.#connected();
      try {
        return await runGroup(session, group, this.#options.context);
      } catch (error) {
        if (session.lost.aborted) this.#session = undefined;
        if (error instanceof CommitUnknownError) return this.#learn(error);
        const passing = error instanceof SessionLostError ? isPrompt(begun) : isPassing(error);
        if (!passing || attempt === GROUP_TRIES_MAX) throw error;
      }
    }
  }

  async #connected(): Promise<Session> {
    if (this.#session?.lost.aborted === false) return this.#session;
    this.#session = undefined;
    this.#session = await this.#options.openSession();
    return this.#session;
  }

  async #learn({ result, cause }: CommitUnknownError): Promise<GroupResult> {
    const { openSession, outcomeTimeoutMs, onFault } = this.#options;
    onFault(cause, 'the connection broke during a commit; its outcome is being looked up');
    const learned = await learnOutcome(result.events, openSession, Date.now() + outcomeTimeoutMs);
    if (learned === undefined)
      throw new UnavailableError(
        'outcome_unknown',
        'The connection to Postgres broke while the command was being committed, and Postgres stayed away.',
        { cause },
      );
    this.#session = learned.session;
    if (learned.committed) return result;
    throw new SessionLostError('The connection broke before the commit.', { cause });
  }

  /** Tells of each partition's new events, in order, before any caller is answered. */
  #announce(events: readonly StoredEvent[]): void {
    const runs = new Map<number, StoredEvent[]>();
    for (const stored of events) {
      const run = runs.get(stored.event.partition);
      if (run === undefined) runs.set(stored.event.partition, [stored]);
      else run.push(stored);
    }
    for (const [partition, run] of runs) this.#guarded('onCommitted', () => this.#options.onCommitted(partition, run));
  }

  #settle(group: readonly Pending[], { outcomes }: GroupResult): void {
    group.forEach((pending, index) => {
      const outcome = outcomes[index];
      if (outcome?.kind === 'decided') {
        const { decision, events } = outcome;
        pending.resolve({ decision, partition: pending.partition, events });
        return;
      }
      const error = outcome?.error ?? new Error('A command of a group has no outcome.');
      this.#options.onFault(error, `deciding ${pending.command.kind} raised: this is a bug`);
      pending.reject(error);
    });
  }

  /** Turns away, from the front, what has waited too long: it surely did not happen. */
  #sweep(): void {
    const { waitMs } = this.#options;
    const late = performance.now() - waitMs;
    const first = this.#queue.findIndex((pending) => pending.sinceMs > late);
    for (const pending of this.#queue.splice(0, first === -1 ? this.#queue.length : first))
      pending.reject(
        new UnavailableError('journal_overloaded', `The journal did not get to it within ${waitMs.toString()} ms.`),
      );
  }
}
