import type { TrailPage } from '../service/ledger.js';
import { ProblemError } from './errors/problem.js';

type Order = TrailPage['order'];

const CURSOR = /^(o|n)([1-9][0-9]{0,15})$/;

/** A place in a trail, opaque to callers. It holds its direction: a cursor must not be used in the other one. */
export const cursorOf = (order: Order, position: number): string =>
  Buffer.from(`${order === 'oldest_first' ? 'o' : 'n'}${position.toString()}`).toString('base64url');

/** The position of a cursor. Raises ProblemError `invalid_request`. */
export const readCursor = (order: Order, cursor: string): number => {
  const [, direction, position] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (position === undefined || !Number.isSafeInteger(Number(position)))
    throw new ProblemError('invalid_request', 'cursor is none that was given out', { field: 'cursor' });
  if ((direction === 'o') !== (order === 'oldest_first'))
    throw new ProblemError('invalid_request', 'cursor was given out for the other order', { field: 'cursor' });
  return Number(position);
};
