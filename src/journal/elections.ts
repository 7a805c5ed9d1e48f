import { hash as digest } from 'node:crypto';
import type { Elected, Elections } from '../core/ports.js';
import type { PostgresOptions } from './options.js';
import { Session } from './session.js';
import { call } from './statement.js';
import type { Statement } from './statement.js';

const tryLock: Statement<boolean> = {
  name: 'try_advisory_lock',
  text: 'select pg_try_advisory_lock($1::int, $2::int)',
  read: (row) => row.bool(0),
};
const unlock: Statement<boolean> = {
  name: 'advisory_unlock',
  text: 'select pg_advisory_unlock($1::int, $2::int)',
  read: (row) => row.bool(0),
};
const heartbeat: Statement<number> = { name: 'heartbeat', text: 'select 1', read: (row) => row.int(0) };

export interface ElectionOptions {
  /** How often the connection is tried, ms. A dead one is noticed after this and the answer timeout. Default 2,000. */
  readonly heartbeatMs?: number;
  /** How long one try may take, ms. Default 3,000. */
  readonly timeoutMs?: number;
  /** Told why nobody is elected: Postgres is away, or the connection broke. Must not raise. */
  readonly onFault?: (error: unknown, what: string) => void;
}

/** The first four bytes of a name's SHA-256, as a signed whole number: half of an advisory lock's name. */
const lockClass = (name: string): number =>
  Number.parseInt(digest('sha256', `holdfast:${name}`, 'hex').slice(0, 8), 16) | 0;

/**
 * Elects by session-level advisory locks, all on one connection of their own. When that connection breaks, or stops
 * answering, every office that this process holds is lost, and each one's signal is aborted.
 */
export class PostgresElections implements Elections {
  readonly #postgres: PostgresOptions;
  readonly #heartbeatMs: number;
  readonly #onFault: (error: unknown, what: string) => void;
  readonly #held = new Map<string, AbortController>();
  #session: Promise<Session | undefined> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(postgres: PostgresOptions, { heartbeatMs = 2_000, timeoutMs = 3_000, onFault }: ElectionOptions = {}) {
    this.#onFault = onFault ?? (() => undefined);
    this.#postgres = { ...postgres, statementTimeoutMs: timeoutMs, lockTimeoutMs: timeoutMs };
    this.#heartbeatMs = heartbeatMs;
  }

  async tryElect(name: string, partition: number): Promise<Elected | undefined> {
    const key = `${name}/${partition.toString()}`;
    // The same session would be given its own lock a second time.
    if (this.#held.has(key) || this.#closed) return undefined;
    const office = new AbortController();
    this.#held.set(key, office);
    const session = await this.#connected();
    const names = [lockClass(name).toString(), partition.toString()] as const;
    const won = await session?.run(call(tryLock, ...names)).then(
      ([[locked]]) => locked === true,
      () => false,
    );
    if (session === undefined || won !== true || session.lost.aborted) {
      this.#held.delete(key);
      return undefined;
    }
    const release = async (): Promise<void> => {
      if (this.#held.get(key) !== office) return;
      office.abort();
      await session.run(call(unlock, ...names)).catch(() => session.destroy());
      this.#held.delete(key);
    };
    return { signal: office.signal, release };
  }

  /** Gives up every office. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#loseAll();
    await (await this.#session)?.close();
  }

  #connected(): Promise<Session | undefined> {
    this.#session ??= this.#open();
    return this.#session;
  }

  async #open(): Promise<Session | undefined> {
    try {
      const statements = [tryLock, unlock, heartbeat];
      const session = await Session.open(this.#postgres, { statements, idleInTransactionMs: 10_000 });
      session.lost.addEventListener('abort', () => {
        this.#session = undefined;
        if (!this.#closed) this.#onFault(session.lost.reason, 'the connection that holds the elections is lost');
        this.#loseAll();
      });
      this.#timer = setInterval(() => void session.run(call(heartbeat)).catch(() => undefined), this.#heartbeatMs);
      return session;
    } catch (error) {
      // Whoever asks is simply not elected, and asks again.
      this.#session = undefined;
      this.#onFault(error, 'nobody can be elected');
      return undefined;
    }
  }

  #loseAll(): void {
    clearInterval(this.#timer);
    for (const office of this.#held.values()) office.abort();
    this.#held.clear();
  }
}
