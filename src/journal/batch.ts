import type { Connection, Submittable } from 'pg';
import type { Fields } from './row.js';
import type { Parameter } from './statement.js';

/** One step of a batch: run a prepared statement, or fetch on from a portal that an earlier batch left open. */
export type Step =
  | {
      readonly kind: 'run';
      readonly statement: string;
      readonly values: readonly Parameter[];
      /** With a portal's name: at most `rows` rows now, the rest by `fetch`, within the same transaction. */
      readonly portal?: string;
      readonly rows?: number;
    }
  | { readonly kind: 'fetch'; readonly portal: string; readonly rows: number }
  | { readonly kind: 'prepare'; readonly statement: string; readonly text: string };

export interface StepResult {
  readonly rows: readonly Fields[];
  /** True when the portal has more rows. */
  readonly more: boolean;
}

/**
 * Several statements in one round trip: all their messages, then one Sync, in one write. If one fails, the server skips
 * the rest up to the Sync, so a COMMIT at the end happens only if all before it did.
 * It plugs into node-postgres where its own Query does (the interface that pg-cursor uses).
 */
export class Batch implements Submittable {
  readonly #steps: readonly Step[];
  readonly #results: { rows: Fields[]; more: boolean }[];
  readonly #done: (error: unknown, results: readonly StepResult[]) => void;
  #at = 0;
  #error: unknown;

  constructor(steps: readonly Step[], done: (error: unknown, results: readonly StepResult[]) => void) {
    this.#steps = steps;
    this.#results = steps.filter((step) => step.kind !== 'prepare').map(() => ({ rows: [], more: false }));
    this.#done = done;
  }

  submit(connection: Connection): void {
    connection.stream.cork();
    for (const step of this.#steps) send(connection, step);
    connection.sync();
    connection.stream.uncork();
  }

  handleDataRow(message: { readonly fields: Fields }): void {
    this.#results[this.#at]?.rows.push(message.fields);
  }

  handleCommandComplete(): void {
    this.#at++;
  }

  handlePortalSuspended(): void {
    const result = this.#results[this.#at++];
    if (result !== undefined) result.more = true;
  }

  handleEmptyQuery(): void {
    this.#at++;
  }

  /** Nothing asks for a description: what the columns are is fixed by the statement. */
  handleRowDescription(): void {
    return;
  }

  /** A refused statement, or a lost connection; node-postgres calls it at most once for each. */
  handleError(error: unknown): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.#done(error, []);
  }

  handleReadyForQuery(): void {
    if (this.#error === undefined) this.#done(undefined, this.#results);
  }
}

/** The driver's types call the row limit a string; it writes a number. */
const rowLimit = (rows: number): string => rows as unknown as string;

const send = (connection: Connection, step: Step): void => {
  switch (step.kind) {
    case 'prepare':
      return connection.parse({ name: step.statement, text: step.text, types: [] }, true);
    case 'fetch':
      return connection.execute({ portal: step.portal, rows: rowLimit(step.rows) }, true);
    case 'run': {
      const { statement, values, portal } = step;
      connection.bind({ statement, values: [...values], ...(portal === undefined ? {} : { portal }) }, true);
      return connection.execute(portal === undefined ? null : { portal, rows: rowLimit(step.rows ?? 0) }, true);
    }
  }
};
