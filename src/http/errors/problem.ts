import { UnavailableError } from '../../core/ports.js';
import type { Rejection } from '../../core/rejection.js';
import { InvalidInputError } from '../../service/ledger.js';
import type { ProblemAnswer, QuotaAnswer } from '../schemas/problem.js';
import { RefusedJsonError } from '../strict-json.js';
import { sentenceOf } from './sentence.js';
import { PROBLEMS } from './table.js';
import type { ProblemCode } from './table.js';

/** What a problem may say besides its code. */
export type ProblemDetails = Partial<Omit<ProblemAnswer, 'type' | 'title' | 'status' | 'detail' | 'code'>>;

/** An answer before it is written: by a route of its own, or as one of a batch's. */
export interface Outcome {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** It answers a command that had been carried out before. */
  readonly replay?: boolean;
  /** The code of a refusal or a failure, for log and metrics. */
  readonly code?: ProblemCode;
}

/** Raised on the way in; ends as a problem. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  constructor(
    readonly code: ProblemCode,
    detail: string,
    readonly details: ProblemDetails = {},
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
  }
}

export const PROBLEM_TYPE = 'application/problem+json';

/** A problem in the words of RFC 9457. */
export const problem = (
  code: ProblemCode,
  detail: string,
  details: ProblemDetails = {},
  headers: Readonly<Record<string, string>> = {},
): Outcome => {
  const { status, title, retryAfterSeconds } = PROBLEMS[code];
  const body: ProblemAnswer = { type: `urn:holdfast:problem:${code}`, title, status, detail, code, ...details };
  return {
    status,
    body,
    code,
    headers: {
      ...headers,
      'content-type': PROBLEM_TYPE,
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': retryAfterSeconds.toString() }),
      // Their SDKs retry a conflict on their own; it will not go away by that.
      ...(status === 409 ? NO_RETRY : {}),
    },
  };
};

const NO_RETRY = { 'x-should-retry': 'false' } as const;

const QUOTA_MESSAGE = 'You exceeded your current quota, please check your plan and billing details.';

/** The body that OpenAI's clients know, so that a gateway can pass it on as it is. */
const outOfQuota = ({ account, available, required }: Extract<Rejection, { code: 'insufficient_quota' }>): Outcome => {
  const body: QuotaAnswer = {
    error: {
      message: QUOTA_MESSAGE,
      type: 'insufficient_quota',
      param: null,
      code: 'insufficient_quota',
      holdfast: { account, available: available.toString(), required: required.toString() },
    },
  };
  const headers = { ...NO_RETRY, 'content-type': 'application/json; charset=utf-8' };
  return { status: 429, body, code: 'insufficient_quota', headers };
};

/** The ledger's no. */
export const refused = (rejection: Rejection): Outcome => {
  if (rejection.code === 'insufficient_quota') return outOfQuota(rejection);
  const { code, ...details } = rejection;
  return problem(code, sentenceOf(rejection), details);
};

/** Any error as an answer; undefined for one that nobody foresaw. */
export const outcomeOf = (error: unknown): Outcome | undefined => {
  if (error instanceof ProblemError) return problem(error.code, error.message, error.details, error.headers);
  if (error instanceof InvalidInputError) return problem('invalid_request', error.message, { field: error.field });
  if (error instanceof UnavailableError) return problem(error.code, UNAVAILABLE[error.code]);
  if (error instanceof RefusedJsonError)
    return problem(error.kind === 'syntax' ? 'invalid_json' : 'invalid_request', error.message, fieldOf(error.field));
  return undefined;
};

const fieldOf = (field: string | undefined): ProblemDetails => (field === undefined ? {} : { field });

/** The error's own text may name hosts; callers get these words instead, the log gets the text. */
const UNAVAILABLE: Readonly<Record<UnavailableError['code'], string>> = {
  journal_unavailable: 'The journal can not be reached. Nothing happened; send the same request again.',
  journal_fenced:
    'The database is not the journal that it was: nothing is written until an operator resumes. Nothing happened.',
  journal_overloaded: 'The journal has more to do than it can. Nothing happened; send the same request again.',
  outcome_unknown:
    'The connection broke during the commit, so whether it happened is not known yet. Send the same request with the same id again: it happens once.',
  replication_pending:
    'It is committed, but Kafka has not confirmed it in time. Send the same request with the same id again to wait for it.',
  level_not_available: 'The level fast is not offered yet; durable and replicated are.',
  stopping: 'The server is stopping. Nothing happened; send the same request to another one.',
};

/** What a caller learns of an error that nobody foresaw: where to look. */
export const internalError = (requestId: string): Outcome =>
  problem('internal_error', `The log says what happened, under request ${requestId}.`, { request_id: requestId });
