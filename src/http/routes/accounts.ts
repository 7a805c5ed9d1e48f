import type { FastifyInstance } from 'fastify';
import type { AsOf } from '../../service/ledger.js';
import { json } from '../endpoint.js';
import type { Endpoint } from '../endpoint.js';
import { ProblemError } from '../errors/problem.js';
import { idOf, idempotencyKeyOf } from '../headers.js';
import { timeOf } from '../moment.js';
import { adjust, getAccount, openAccount, recharge } from '../operations/account.js';
import { callOf, send } from '../reply.js';
import { MomentQuery } from '../schemas/account.js';
import { inlineSchema } from '../schemas/json-schema.js';
import type { AdjustmentBody, OpenAccountBody, RechargeBody } from '../schemas/account.js';
import type { ById } from '../schemas/names.js';
import { pathOf, routeOf } from './route-parts.js';
import type { RouteParts } from './route-parts.js';

/** POST /v1/accounts, GET /v1/accounts/{id}, and what changes a balance beside reservations. */
export const accountRoutes = (app: FastifyInstance, parts: RouteParts): void => {
  const { ledger } = parts;
  app.post<{ Body: OpenAccountBody }>('/v1/accounts', routeOf(parts, openEndpoint(parts)), async (request, reply) =>
    send(request, reply, await openAccount(callOf(request, ledger), request.body)),
  );
  app.get<{ Params: ById; Querystring: MomentQuery }>(
    '/v1/accounts/:id',
    routeOf(parts, getEndpoint(parts)),
    async (request, reply) =>
      send(request, reply, await getAccount(callOf(request, ledger), request.params.id, momentOf(request.query))),
  );
  app.post<{ Body: RechargeBody; Params: ById }>(
    '/v1/accounts/:id/recharges',
    routeOf(parts, rechargeEndpoint(parts)),
    async (request, reply) => {
      const id = idOf(request.body.id, idempotencyKeyOf(request.headers));
      return send(request, reply, await recharge(callOf(request, ledger), request.params.id, id, request.body));
    },
  );
  app.post<{ Body: AdjustmentBody; Params: ById }>(
    '/v1/accounts/:id/adjustments',
    routeOf(parts, adjustEndpoint(parts)),
    async (request, reply) => {
      const id = idOf(request.body.id, idempotencyKeyOf(request.headers));
      return send(request, reply, await adjust(callOf(request, ledger), request.params.id, id, request.body));
    },
  );
};

const momentOf = ({ at, position }: MomentQuery): AsOf | undefined => {
  if (at !== undefined && position !== undefined)
    throw new ProblemError('invalid_request', 'at and position exclude each other', { field: 'position' });
  if (at !== undefined) return { timeMs: timeOf(at, 'at') };
  return position === undefined ? undefined : { position };
};

const openEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'openAccount',
  summary: 'Open an account',
  description: 'The tenant is what stands before the first `/` of the id. The same again answers 200.',
  tag: 'accounts',
  scope: 'fund',
  body: schemas.bodies.openAccount,
  success: {
    200: { description: 'Open already, with the same contents.', content: json(schemas.answers.account) },
    201: { description: 'Opened.', content: json(schemas.answers.account) },
  },
  problems: ['account_differs'],
});

const getEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'getAccount',
  summary: 'A balance, now or at a past moment',
  tag: 'accounts',
  scope: 'read',
  params: pathOf.account,
  querystring: inlineSchema(MomentQuery),
  success: { 200: { description: 'The balance.', content: json(schemas.answers.account) } },
  problems: ['account_not_found'],
});

const rechargeEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'recharge',
  summary: 'Pay in',
  description: 'Counts once for its id, and once for its payment `reference`.',
  tag: 'accounts',
  scope: 'fund',
  takesIdempotencyKey: true,
  params: pathOf.account,
  body: schemas.bodies.recharge,
  success: {
    201: { description: 'Paid in, or paid in before; the balance now.', content: json(schemas.answers.funding) },
  },
  problems: ['account_not_found', 'idempotency_key_differs', 'id_reused', 'amount_overflow'],
});

const adjustEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'adjust',
  summary: 'Correct a balance',
  description: 'Upward or downward, also below zero; counts once for its id.',
  tag: 'accounts',
  scope: 'fund',
  takesIdempotencyKey: true,
  params: pathOf.account,
  body: schemas.bodies.adjustment,
  success: {
    201: { description: 'Corrected, or corrected before; the balance now.', content: json(schemas.answers.funding) },
  },
  problems: ['account_not_found', 'idempotency_key_differs', 'id_reused', 'amount_overflow'],
});
