import type { UnavailableError } from '../../core/ports.js';
import type { RejectionCode } from '../../core/rejection.js';

/** What goes wrong before the ledger is asked, or beside it. */
export type HttpCode =
  | 'invalid_json'
  | 'invalid_request'
  | 'idempotency_key_differs'
  | 'tenant_required'
  | 'unauthenticated'
  | 'scope_missing'
  | 'wrong_tenant'
  | 'model_not_found'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'body_too_large'
  | 'uri_too_long'
  | 'unsupported_media_type'
  | 'headers_too_large'
  | 'overloaded'
  | 'internal_error';

export type ProblemCode = RejectionCode | UnavailableError['code'] | HttpCode;

export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** Seconds after which trying again makes sense; sent as Retry-After. */
  readonly retryAfterSeconds?: number;
}

/** Every code that the interface answers, with its status: the one table. docs/ERRORS.md tells callers what to do; a test holds the two together. */
export const PROBLEMS: Readonly<Record<ProblemCode, ProblemKind>> = {
  invalid_json: { status: 400, title: 'The body is not JSON' },
  invalid_request: { status: 400, title: 'The request is not valid' },
  idempotency_key_differs: { status: 400, title: 'The Idempotency-Key is not the id' },
  tenant_required: { status: 400, title: 'The tenant is not named' },
  unauthenticated: { status: 401, title: 'No valid key' },
  scope_missing: { status: 403, title: 'The key may not do this' },
  wrong_tenant: { status: 403, title: "The key is another tenant's" },
  account_not_found: { status: 404, title: 'No such account' },
  reservation_not_found: { status: 404, title: 'No such reservation' },
  model_not_found: { status: 404, title: 'No max_cost is known for this model' },
  not_found: { status: 404, title: 'No such resource' },
  method_not_allowed: { status: 405, title: 'The resource does not know this method' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  reservation_finalized: { status: 409, title: 'The reservation is finalized' },
  reservation_refunded: { status: 409, title: 'The reservation is refunded' },
  reservation_closed: { status: 409, title: 'The id was used by a finalize without reservation' },
  body_too_large: { status: 413, title: 'The body is too large' },
  uri_too_long: { status: 414, title: 'The address is too long' },
  unsupported_media_type: { status: 415, title: 'The body is not application/json' },
  account_differs: { status: 422, title: 'The account exists with other contents' },
  id_reused: { status: 422, title: 'The id was used with other contents' },
  unit_mismatch: { status: 422, title: 'The accounts do not share a unit' },
  amount_missing: { status: 422, title: 'An amount is missing' },
  unit_unknown: { status: 422, title: 'No account has this unit' },
  max_cost_unknown: { status: 422, title: 'The model has no max_cost' },
  amount_overflow: { status: 422, title: 'The sum leaves 64 bits' },
  insufficient_quota: { status: 429, title: 'The account does not have it' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal_error: { status: 500, title: 'Something went wrong here' },
  journal_unavailable: { status: 503, title: 'The journal can not be reached', retryAfterSeconds: 2 },
  journal_fenced: { status: 503, title: 'The journal is fenced', retryAfterSeconds: 30 },
  journal_overloaded: { status: 503, title: 'The journal has more to do than it can', retryAfterSeconds: 1 },
  outcome_unknown: { status: 503, title: 'Whether it happened is not known yet', retryAfterSeconds: 1 },
  replication_pending: { status: 503, title: 'Committed, but not yet replicated', retryAfterSeconds: 1 },
  level_not_available: { status: 503, title: 'The level can not be given', retryAfterSeconds: 3600 },
  stopping: { status: 503, title: 'The server is stopping', retryAfterSeconds: 1 },
  overloaded: { status: 503, title: 'Too many requests are under way', retryAfterSeconds: 1 },
};

export const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[];

/** The codes that are answered under a status: the documentation of a route lists them. */
export const codesOf = (status: number, among: readonly ProblemCode[]): readonly ProblemCode[] =>
  among.filter((code) => PROBLEMS[code].status === status);
