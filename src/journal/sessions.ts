import { UnavailableError } from '../core/ports.js';
import { SessionLostError, toUnavailable } from './errors.js';
import type { Session } from './session.js';

export interface SessionsOptions {
  readonly open: () => Promise<Session>;
  /** Most connections. */
  readonly max: number;
  /** Most callers that wait for one. */
  readonly queueMax: number;
  /** The longest that a caller waits for one, ms. */
  readonly waitMs: number;
}

interface Waiter {
  readonly resolve: () => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * A bounded pool of connections for reading. Raises UnavailableError: `journal_overloaded` when too many wait or one
 * waited too long, `journal_unavailable` when Postgres is away or refuses, `stopping` after `close`.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #idle: Session[] = [];
  readonly #waiters: Waiter[] = [];
  #used = 0;
  #closed = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Lends a connection to `work`, once. */
  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#lent(async () => {
      const session = this.#fromIdle() ?? (await this.#options.open());
      return this.#returning(session, work);
    });
  }

  /** Lends a connection to work that only reads: had it lain idle and turns out to be dead, the work is done again on a new one. */
  async read<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#lent(async () => {
      const kept = this.#fromIdle();
      try {
        if (kept !== undefined) return await this.#returning(kept, work);
      } catch (error) {
        if (!(error instanceof SessionLostError)) throw error;
      }
      return this.#returning(await this.#options.open(), work);
    });
  }

  /** Lends no more, and closes what is idle; what is lent is closed when it comes back. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#idle.splice(0).map((session) => session.close()));
  }

  async #lent<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new UnavailableError('stopping', 'The journal is closing.');
    if (this.#used >= this.#options.max) await this.#turn();
    else this.#used++;
    try {
      return await work();
    } catch (error) {
      throw toUnavailable(error);
    } finally {
      this.#passOn();
    }
  }

  async #returning<T>(session: Session, work: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await work(session);
    } finally {
      if (this.#closed) void session.close();
      else if (!session.lost.aborted) this.#idle.push(session);
    }
  }

  #fromIdle(): Session | undefined {
    for (let session = this.#idle.pop(); session !== undefined; session = this.#idle.pop())
      if (!session.lost.aborted) return session;
    return undefined;
  }

  #turn(): Promise<void> {
    const { queueMax, waitMs } = this.#options;
    if (this.#waiters.length >= queueMax)
      throw new UnavailableError('journal_overloaded', `${queueMax.toString()} reads wait for a connection.`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(new UnavailableError('journal_overloaded', `No connection was free within ${waitMs.toString()} ms.`));
      }, waitMs);
      const waiter = { resolve, timer };
      this.#waiters.push(waiter);
    });
  }

  /** The place goes to whoever waits longest. */
  #passOn(): void {
    const next = this.#waiters.shift();
    if (next === undefined) {
      this.#used--;
      return;
    }
    clearTimeout(next.timer);
    next.resolve();
  }
}
