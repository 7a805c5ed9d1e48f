import { IDENTIFIER_PATTERN } from '../../events/index.js';
import { ProblemError } from './errors/problem.js';

const IDEMPOTENCY_KEY = 'idempotency-key';
/** A structured-field string; nothing in an id ever needs an escape. */
const QUOTED = /^"([^"\\]*)"$/;

/**
 * The id of a command: the body's, or the Idempotency-Key header's (IETF draft: a quoted string; a bare one is tolerated).
 * Raises ProblemError `idempotency_key_differs` when both are given and differ, `invalid_request` when the header is no id.
 */
export const idOf = (
  inBody: string | undefined,
  header: string | readonly string[] | undefined,
): string | undefined => {
  if (header === undefined) return inBody;
  const field = 'idempotency-key';
  const text = typeof header === 'string' ? header.trim() : '';
  const key = QUOTED.exec(text)?.[1] ?? text;
  if (!IDENTIFIER_PATTERN.test(key))
    throw new ProblemError('invalid_request', `${field} must be one id: 1 to 128 of A-Z a-z 0-9 . _ : @ / -`, {
      field,
    });
  if (inBody !== undefined && inBody !== key)
    throw new ProblemError('idempotency_key_differs', 'The body has another id than the header Idempotency-Key.', {
      field: 'id',
    });
  return key;
};

/** The Idempotency-Key header of a request. */
export const idempotencyKeyOf = (headers: Readonly<Record<string, string | string[] | undefined>>) =>
  headers[IDEMPOTENCY_KEY];

/** The traceparent header, when there is exactly one; whether it is well formed the ledger checks. */
export const traceparentOf = (headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined => {
  const header = headers['traceparent'];
  return typeof header === 'string' ? header : undefined;
};
