import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TrailPage, TrailSlice } from '../../service/ledger.js';
import { given } from '../answers/amounts.js';
import { trailEntryText, trailText } from '../answers/events.js';
import type { Call } from '../context.js';
import { cursorOf, readCursor } from '../cursor.js';
import { json } from '../endpoint.js';
import type { Endpoint } from '../endpoint.js';
import { refused } from '../errors/problem.js';
import { timeOf } from '../moment.js';
import { callOf, send } from '../reply.js';
import { LIMIT_DEFAULT, TrailQuery } from '../schemas/event.js';
import { inlineSchema } from '../schemas/json-schema.js';
import { mayTouch, tenantOfAccount } from '../tenant.js';
import type { ById } from '../schemas/names.js';
import { pathOf, routeOf, writtenByHand } from './route-parts.js';
import type { RouteParts } from './route-parts.js';

const NDJSON = 'application/x-ndjson';

/** GET /v1/accounts/{id}/events: a page as JSON, or all that follows as NDJSON. */
export const trailRoutes = (app: FastifyInstance, parts: RouteParts): void => {
  app.get<{ Params: ById; Querystring: TrailQuery }>(
    '/v1/accounts/:id/events',
    { ...routeOf(parts, trailEndpoint(parts)), ...writtenByHand },
    async (request, reply) => {
      const call = callOf(request, parts.ledger);
      const { id } = request.params;
      if (!mayTouch(call, id)) return send(request, reply, refused({ code: 'account_not_found', account: id }));
      const tenant = tenantOfAccount(call, id);
      const page = pageOf(request.query);
      const first = await parts.ledger.trail(tenant, id, page);
      if (!first.ok) return send(request, reply, refused(first.rejection));
      void reply.header('vary', 'accept');
      if (wantsLines(request)) return sendLines(reply, linesOf(call, { tenant, id, page }, first));
      return reply
        .type('application/json; charset=utf-8')
        .send(trailText(first, (position) => cursorOf(page.order, position)));
    },
  );
};

const pageOf = ({ order = 'oldest_first', from, to, limit = LIMIT_DEFAULT, cursor }: TrailQuery): TrailPage => ({
  order,
  limit,
  ...given({
    fromMs: from === undefined ? undefined : timeOf(from, 'from'),
    toMs: to === undefined ? undefined : timeOf(to, 'to'),
    after: cursor === undefined ? undefined : readCursor(order, cursor),
  }),
});

const wantsLines = (request: FastifyRequest): boolean =>
  (request.headers.accept ?? '').split(',').some((type) => type.split(';', 1)[0]?.trim().toLowerCase() === NDJSON);

/** One page is read while the one before is being sent, no more: the reader sets the pace. */
const sendLines = (reply: FastifyReply, lines: AsyncIterable<string>): FastifyReply =>
  reply.type(NDJSON).send(Readable.from(lines, { objectMode: false, highWaterMark: 64 * 1024 }));

interface Trail {
  readonly tenant: string;
  readonly id: string;
  readonly page: TrailPage;
}

async function* linesOf({ ledger }: Call, { tenant, id, page }: Trail, first: TrailSlice): AsyncGenerator<string> {
  let slice = first;
  for (;;) {
    if (slice.entries.length > 0) yield `${slice.entries.map(trailEntryText).join('\n')}\n`;
    if (slice.next === undefined) return;
    const next = await ledger.trail(tenant, id, { ...page, after: slice.next });
    if (!next.ok) throw new Error(`The account went away while its trail was read: ${next.rejection.code}.`);
    slice = next;
  }
}

const trailEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'getTrail',
  summary: "An account's events, with the balance after each",
  description:
    'A page, or with `Accept: application/x-ndjson` everything that follows, an event a line (`limit` is then the size of what is read at once).',
  tag: 'accounts',
  scope: 'read',
  params: pathOf.account,
  querystring: inlineSchema(TrailQuery),
  success: {
    200: {
      description: 'The events.',
      content: { ...json(schemas.answers.trail), [NDJSON]: { schema: { type: 'string' } } },
    },
  },
  problems: ['account_not_found'],
});
