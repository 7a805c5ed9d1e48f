import pg from 'pg';
import { Batch } from './batch.js';
import type { Step, StepResult } from './batch.js';
import { Frame } from './frame.js';
import { LedgerMismatchError, SQLSTATE, SessionLostError, StatementError, fromDriver } from './errors.js';
import { DEFAULT_LOCK_TIMEOUT_MS, DEFAULT_STATEMENT_TIMEOUT_MS, clientConfig } from './options.js';
import type { PostgresOptions } from './options.js';
import { Row } from './row.js';
import type { Call, Statement } from './statement.js';

/** Beyond the server's own statement timeout, how long an answer may still be on its way before the line is cut. */
const ANSWER_GRACE_MS = 2_000;

type RowsOf<T> = { -readonly [K in keyof T]: T[K] extends Call<infer R> ? R[] : never };

export interface SessionSettings {
  /** The statements that it will run, prepared at once. */
  readonly statements: readonly Statement<unknown>[];
  /** The longest that a transaction may lie idle before the server ends the session: its locks must not outlive us. */
  readonly idleInTransactionMs: number;
  /** True (the default) to switch to the program's role, which may only append. */
  readonly asWriter?: boolean;
}

/**
 * One connection to Postgres, with the program's role and settings, and its statements prepared.
 * Calls queue up behind each other. Raises StatementError when Postgres refuses, SessionLostError when the connection
 * broke or did not answer in time (it is cut then), UnsendableError when a parameter can't be written (a bug).
 */
export class Session {
  readonly #client: pg.Client;
  readonly #answerMs: number;
  readonly #lost = new AbortController();
  readonly #frame = new Frame();
  #tail: Promise<unknown> = Promise.resolve();
  #portals = 0;

  private constructor(client: pg.Client, statementMs: number) {
    this.#client = client;
    this.#answerMs = statementMs + ANSWER_GRACE_MS;
    client.on('error', (error) => this.#abort(fromDriver(error)));
    client.on('end', () => this.#abort(new SessionLostError('The connection to Postgres has ended.')));
  }

  /**
   * Connects. Raises SessionLostError when Postgres can't be reached or refuses the login, LedgerMismatchError when the
   * database lacks the role or tables that `holdfast migrate` makes.
   */
  static async open(options: PostgresOptions, settings: SessionSettings): Promise<Session> {
    const client = new pg.Client(clientConfig(options));
    const session = new Session(client, options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS);
    try {
      await client.connect();
      await session.simple(setUp(options, settings));
      await session.#prepare(settings.statements);
    } catch (error) {
      session.destroy();
      throw missingSchema(error) ?? fromDriver(error);
    }
    return session;
  }

  /** Aborted once the connection is gone, for whatever reason. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Runs prepared statements in one round trip, in order; the first refusal skips the rest. Answers each one's rows. */
  async run<const T extends readonly Call<unknown>[]>(...calls: T): Promise<RowsOf<T>> {
    const steps = calls.map(({ statement, values }): Step => ({ kind: 'run', statement: statement.name, values }));
    const results = await this.#submit(steps);
    const rows = calls.map(({ statement }, index) => readRows(statement, results[index]));
    return rows as RowsOf<T>;
  }

  /** Streams a statement's rows in chunks of at most `size`, within the transaction that is open. */
  async *stream<R>({ statement, values }: Call<R>, size: number): AsyncGenerator<readonly R[], void, undefined> {
    const portal = `p${(this.#portals++).toString()}`;
    let step: Step = { kind: 'run', statement: statement.name, values, portal, rows: size };
    for (;;) {
      const [result] = await this.#submit([step]);
      const rows = readRows(statement, result);
      if (rows.length > 0) yield rows;
      if (result?.more !== true) return;
      step = { kind: 'fetch', portal, rows: size };
    }
  }

  /** Runs fixed SQL, several statements if need be, and forgets its rows. */
  async simple(sql: string): Promise<void> {
    await this.#queued(() => this.#bounded(() => this.#client.query(sql)));
  }

  /** Runs one piece of SQL outside the prepared ones: for set-up and migrations. */
  async query<R>(statement: Statement<R>, values: readonly string[] = []): Promise<R[]> {
    const result = await this.#queued(() =>
      this.#bounded(() =>
        this.#client.query<(string | null)[]>({
          text: statement.text,
          values: [...values],
          rowMode: 'array',
          types: { getTypeParser: () => (value: string) => value },
        }),
      ),
    );
    return result.rows.map((fields) => statement.read(new Row(fields, statement.name)));
  }

  /** Says goodbye to Postgres. */
  async close(): Promise<void> {
    await this.#tail.catch(() => undefined);
    await this.#client.end().catch(() => undefined);
    this.#abort(new SessionLostError('The connection was closed.'));
  }

  /** Cuts the connection at once; the server rolls back what was not committed. */
  destroy(): void {
    this.#abort(new SessionLostError('The connection was cut.'));
    this.#client.connection.stream.destroy();
  }

  #abort(why: Error): void {
    if (!this.#lost.signal.aborted) this.#lost.abort(why);
  }

  async #prepare(statements: readonly Statement<unknown>[]): Promise<void> {
    await this.#submit(statements.map(({ name, text }): Step => ({ kind: 'prepare', statement: name, text })));
  }

  #submit(steps: readonly Step[]): Promise<readonly StepResult[]> {
    return this.#queued(() =>
      this.#bounded(
        () =>
          new Promise<readonly StepResult[]>((resolve, reject) => {
            this.#client.query(
              new Batch(this.#frame, steps, (error, results) => {
                if (error === undefined) resolve(results);
                else reject(fromDriver(error));
              }),
            );
          }),
      ),
    );
  }

  /** One after the other: node-postgres must not be handed a query while one is under way. */
  #queued<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work, work);
    this.#tail = result.catch(() => undefined);
    return result;
  }

  /** A server that stopped answering (frozen, or behind a dead line) keeps no statement timeout: we do. */
  async #bounded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#lost.signal.aborted) throw fromDriver(this.#lost.signal.reason);
    const timer = setTimeout(() => {
      this.#abort(new SessionLostError(`Postgres did not answer within ${this.#answerMs.toString()} ms.`));
      this.#client.connection.stream.destroy();
    }, this.#answerMs);
    try {
      return await work();
    } catch (error) {
      const sorted = fromDriver(error);
      if (sorted instanceof SessionLostError) this.destroy();
      throw sorted;
    } finally {
      clearTimeout(timer);
    }
  }
}

const readRows = <R>(statement: Statement<R>, result: StepResult | undefined): R[] =>
  (result?.rows ?? []).map((fields) => statement.read(new Row(fields, statement.name)));

/**
 * Generic plans, since each statement's shape is always the same; and no plan that reads whole tables, whatever the
 * statistics say on an empty one: every read of the program is an index look-up. No bitmaps either, since they would
 * sort a whole partition before a stream's first row.
 */
export const PLANNING: readonly string[] = [
  'set plan_cache_mode = force_generic_plan',
  'set enable_seqscan = off',
  'set enable_hashjoin = off',
  'set enable_mergejoin = off',
  'set enable_bitmapscan = off',
  'set jit = off',
];

const setUp = (options: PostgresOptions, { idleInTransactionMs, asWriter = true }: SessionSettings): string =>
  [
    ...(asWriter ? ['set role holdfast_writer'] : []),
    `set statement_timeout = ${(options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS).toString()}`,
    `set lock_timeout = ${(options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS).toString()}`,
    `set idle_in_transaction_session_timeout = ${idleInTransactionMs.toString()}`,
    ...PLANNING,
    'set client_min_messages = warning',
    "set bytea_output = 'hex'",
    "set timezone = 'UTC'",
  ].join('; ');

const MISSING: ReadonlySet<string> = new Set([
  SQLSTATE.undefinedTable,
  SQLSTATE.invalidSchema,
  SQLSTATE.undefinedObject,
  SQLSTATE.invalidParameter,
]);

const missingSchema = (error: unknown): LedgerMismatchError | undefined => {
  const sorted = fromDriver(error);
  if (!(sorted instanceof StatementError)) return undefined;
  if (sorted.code === SQLSTATE.insufficientPrivilege)
    return new LedgerMismatchError(
      `This login may not act as holdfast_writer (${sorted.message}). As the role's owner: GRANT holdfast_writer TO the login.`,
    );
  if (!MISSING.has(sorted.code)) return undefined;
  return new LedgerMismatchError(`The database is not set up for Holdfast (${sorted.message}). Run: holdfast migrate`);
};
