import type { Connection, Submittable } from 'pg';
import { UnsendableError } from './errors.js';
import type { Frame } from './frame.js';
import type { Fields } from './row.js';
import type { Parameter } from './statement.js';

/** How parameters and columns are sent. */
const TEXT = 0;
const BINARY = 1;

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
  readonly #frame: Frame;
  readonly #steps: readonly Step[];
  readonly #results: { rows: Fields[]; more: boolean }[];
  readonly #done: (error: unknown, results: readonly StepResult[]) => void;
  #at = 0;
  #error: unknown;

  constructor(frame: Frame, steps: readonly Step[], done: (error: unknown, results: readonly StepResult[]) => void) {
    this.#frame = frame;
    this.#steps = steps;
    this.#results = steps.filter((step) => step.kind !== 'prepare').map(() => ({ rows: [], more: false }));
    this.#done = done;
  }

  /** Returns what writing the messages raised, before any of them was sent: node-postgres hands it to `handleError`. */
  submit({ stream }: Connection): unknown {
    try {
      this.#frame.reset();
      for (const step of this.#steps) writeStep(this.#frame, step);
      this.#frame.message('S', () => undefined);
    } catch (error) {
      return new UnsendableError('A parameter could not be written.', { cause: error });
    }
    // A line that is closing is reported by its own event.
    if (stream.writable) stream.write(this.#frame.bytes());
    return undefined;
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

const writeStep = (frame: Frame, step: Step): void => {
  if (step.kind === 'prepare') {
    frame.message('P', () => {
      frame.cstring(step.statement);
      frame.cstring(step.text);
      // No parameter types: the statement's own casts say them.
      frame.int16(0);
    });
    return;
  }
  if (step.kind === 'run') writeBind(frame, step);
  frame.message('E', () => {
    frame.cstring(step.portal ?? '');
    frame.int32(step.rows ?? 0);
  });
};

const writeBind = (frame: Frame, { statement, values, portal }: Extract<Step, { kind: 'run' }>): void =>
  frame.message('B', () => {
    frame.cstring(portal ?? '');
    frame.cstring(statement);
    frame.int16(values.length);
    for (const value of values) frame.int16(typeof value === 'object' && value !== null ? BINARY : TEXT);
    frame.int16(values.length);
    for (const value of values)
      if (value === null) frame.int32(-1);
      else if (typeof value === 'string') frame.sizedText(value);
      else frame.sized(() => value.write(frame));
    // All columns of the answer in one form.
    frame.int16(1);
    frame.int16(TEXT);
  });
