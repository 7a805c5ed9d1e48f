import { DatabaseError } from 'pg';
import { UnavailableError } from '../core/ports.js';

/** Postgres refused a statement; the connection lives on. `code` is the SQLSTATE. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  constructor(
    readonly code: string,
    message: string,
    readonly constraint: string | undefined,
  ) {
    super(message);
  }
}

/** The connection is gone, or did not answer in time and was cut. What was under way may or may not have happened. */
export class SessionLostError extends Error {
  override readonly name = 'SessionLostError';
}

/** A parameter could not be written: a bug. Nothing was sent, and the connection lives on. */
export class UnsendableError extends Error {
  override readonly name = 'UnsendableError';
}

/** The database is not one that this program may work on: an operator must act. The message says what to do. */
export class LedgerMismatchError extends Error {
  override readonly name = 'LedgerMismatchError';
}

/** A restore found the head of a partition elsewhere than it left it: somebody else writes. Nothing of the group was written. */
export class JournalMovedError extends Error {
  override readonly name = 'JournalMovedError';
  constructor(partition: number, head: number, next: number) {
    super(
      `Somebody else writes to the journal: partition ${partition.toString()} is at position ${head.toString()}, and position ${next.toString()} of Kafka does not follow on it. Stop all servers and run this again: it goes on where it stopped.`,
    );
  }
}

/** The database behind a new connection is not the journal that it was: nothing may be written until an operator resumes. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
  constructor(readonly why: string) {
    super(
      `The journal is fenced: ${why}. Nothing is written until an operator looks (holdfast doctor) and resumes (holdfast resume).`,
    );
  }
}

/** SQLSTATEs that the code has names for. */
export const SQLSTATE = {
  uniqueViolation: '23505',
  insufficientPrivilege: '42501',
  undefinedTable: '42P01',
  invalidSchema: '3F000',
  undefinedObject: '42704',
  invalidParameter: '22023',
  lockNotAvailable: '55P03',
  internalError: 'XX000',
} as const;

/** True for what one command's data can cause (classes 22 and 23): alone, the others of its group would have passed. */
export const isCausedByData = (error: unknown): boolean =>
  error instanceof UnsendableError ||
  (error instanceof StatementError && (error.code.startsWith('22') || error.code.startsWith('23')));

/** Sorts what node-postgres raises: a refused statement, or a lost connection (a FATAL ends it as well). */
export const fromDriver = (error: unknown): StatementError | SessionLostError | UnsendableError => {
  if (error instanceof StatementError || error instanceof SessionLostError || error instanceof UnsendableError)
    return error;
  if (error instanceof DatabaseError && error.severity !== 'FATAL' && error.severity !== 'PANIC')
    return new StatementError(error.code ?? '', error.message, error.constraint);
  const why = error instanceof Error ? error.message : String(error);
  return new SessionLostError(`Postgres is away: ${why}`, { cause: error });
};

/** What callers outside the journal are told when Postgres is away or refuses (`journal_unavailable`), or went back (`journal_fenced`). Bugs stay what they are. */
export const toUnavailable = (error: unknown): unknown =>
  error instanceof FencedError
    ? new UnavailableError('journal_fenced', error.message, { cause: error })
    : error instanceof SessionLostError || error instanceof StatementError || error instanceof LedgerMismatchError
      ? new UnavailableError('journal_unavailable', error.message, { cause: error })
      : error;
