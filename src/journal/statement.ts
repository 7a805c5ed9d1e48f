import type { BinaryParameter } from './binary.js';
import type { Row } from './row.js';

/** A parameter: text form, binary form, or NULL. */
export type Parameter = string | BinaryParameter | null;

/** One SQL statement, prepared once per connection, with what a row of its answer means. */
export interface Statement<R> {
  /** Its name on the connection; unique. */
  readonly name: string;
  readonly text: string;
  readonly read: (row: Row) => R;
}

/** A statement that answers no rows. */
export const command = (name: string, text: string): Statement<never> => ({
  name,
  text,
  read: () => {
    throw new Error(`${name} answered a row, but should not.`);
  },
});

/** A statement with its parameters. */
export interface Call<R> {
  readonly statement: Statement<R>;
  readonly values: readonly Parameter[];
}

/** A statement with its parameters, in the order of their numbers. */
export const call = <R>(statement: Statement<R>, ...values: readonly Parameter[]): Call<R> => ({ statement, values });
