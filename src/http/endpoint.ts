import type {} from '@fastify/swagger';
import type { FastifySchema } from 'fastify';
import type { ScopeNeeded } from './context.js';
import { PROBLEM_TYPE } from './errors/problem.js';
import { PROBLEMS, codesOf } from './errors/table.js';
import type { ProblemCode } from './errors/table.js';
import type { Json, JsonObject } from './schemas/index.js';

export interface Reference {
  readonly $ref: string;
}

/** An endpoint as it is documented; the same schemas check what comes in and write what goes out. */
export interface Endpoint {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: 'accounts' | 'reservations' | 'models' | 'operations';
  /** Absent: no key is needed. */
  readonly scope?: ScopeNeeded;
  readonly params?: JsonObject;
  readonly querystring?: JsonObject;
  readonly body?: Reference;
  /** Its command's id may come by the header Idempotency-Key. */
  readonly takesIdempotencyKey?: boolean;
  /** Each answer of success: what it means, and its schema. */
  readonly success: Readonly<Record<number, { readonly description: string; readonly content: JsonObject }>>;
  /** What can go wrong, beside what can go wrong everywhere. */
  readonly problems: readonly ProblemCode[];
}

const ALWAYS: readonly ProblemCode[] = ['invalid_request', 'headers_too_large', 'request_timeout', 'internal_error'];
const WITH_KEY: readonly ProblemCode[] = [
  'unauthenticated',
  'scope_missing',
  'wrong_tenant',
  'journal_unavailable',
  'journal_fenced',
  'journal_overloaded',
  'outcome_unknown',
  'replication_pending',
  'stopping',
  'overloaded',
];
const WITH_BODY: readonly ProblemCode[] = ['invalid_json', 'body_too_large', 'unsupported_media_type'];

const ID_HEADER = '[A-Za-z0-9._:@/-]{1,128}';

/** The schema of a route: what fastify validates and writes by, and what OpenAPI shows. */
export const schemaOf = (endpoint: Endpoint, quota: Reference, problem: Reference): FastifySchema => {
  const { operationId, summary, description, tag, scope, params, querystring, body } = endpoint;
  const codes = [
    ...endpoint.problems,
    ...ALWAYS,
    ...(scope === undefined ? [] : WITH_KEY),
    ...(body === undefined ? [] : WITH_BODY),
  ];
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    security: scope === undefined ? [] : [{ key: [] }],
    ...(params === undefined ? {} : { params }),
    ...(querystring === undefined ? {} : { querystring }),
    ...(body === undefined ? {} : { body }),
    ...(scope === undefined ? {} : { headers: headersOf(endpoint) }),
    response: { ...successesOf(endpoint), ...problemsOf(codes, quota, problem) },
  };
};

const headersOf = ({ takesIdempotencyKey }: Endpoint): JsonObject => ({
  type: 'object',
  properties: {
    'holdfast-tenant': {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$',
      description: 'For a key of all tenants: whose data it is about, where body or path do not say.',
    },
    ...(takesIdempotencyKey === true
      ? {
          'idempotency-key': {
            type: 'string',
            pattern: `^(?:"${ID_HEADER}"|${ID_HEADER})$`,
            description: 'The id of the command, in place of the one in the body: a quoted string, or bare.',
          },
        }
      : {}),
    traceparent: { type: 'string', description: 'W3C trace context; kept in the event. Ignored when malformed.' },
  },
});

const text = (description: string): Json => ({ description, schema: { type: 'string' } });
const REQUEST_ID = { 'x-request-id': text('The name of this request in the log.') };
const HIT = { 'idempotency-hit': text('`true` when this answers a command that had been carried out before.') };

const successesOf = ({ success, scope }: Endpoint): Record<number, Json> =>
  Object.fromEntries(
    Object.entries(success).map(([status, { description, content }]) => [
      status,
      { description, headers: scope === undefined ? REQUEST_ID : { ...REQUEST_ID, ...HIT }, content },
    ]),
  );

const problemsOf = (codes: readonly ProblemCode[], quota: Reference, problem: Reference): Record<number, Json> => {
  const statuses = [...new Set(codes.map((code) => PROBLEMS[code].status))].sort();
  return Object.fromEntries(statuses.map((status) => [status, answerOf(status, codes, quota, problem)]));
};

const answerOf = (status: number, codes: readonly ProblemCode[], quota: Reference, problem: Reference): Json => {
  const description = codesOf(status, codes)
    .map((code) => `\`${code}\``)
    .join(', ');
  const headers: Record<string, Json> = { ...REQUEST_ID };
  if (status === 503) headers['retry-after'] = text('Seconds after which to send the same request again.');
  if (status === 409 || status === 429) headers['x-should-retry'] = text('`false`: their SDKs retry otherwise.');
  if (status === 401) headers['www-authenticate'] = text('`Bearer`.');
  const content: Json =
    status === 429 ? { 'application/json': { schema: { ...quota } } } : { [PROBLEM_TYPE]: { schema: { ...problem } } };
  return { description, headers, content };
};

/** An answer in JSON by a schema of the shelf. */
export const json = (schema: Reference): JsonObject => ({ 'application/json': { schema: { ...schema } } });
