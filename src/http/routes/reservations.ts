import type { FastifyInstance } from 'fastify';
import { eventText } from '../answers/events.js';
import { reservationAnswer } from '../answers/reservation.js';
import { json } from '../endpoint.js';
import type { Endpoint } from '../endpoint.js';
import { refused } from '../errors/problem.js';
import type { ProblemCode } from '../errors/table.js';
import { idOf, idempotencyKeyOf } from '../headers.js';
import { extend, finalize, refund, reserve } from '../operations/reservation.js';
import { callOf, send } from '../reply.js';
import type { ExtendBody, FinalizeBody, RefundBody, ReserveBody } from '../schemas/reservation.js';
import { tenantOfCommand } from '../tenant.js';
import type { ById } from '../schemas/names.js';
import { pathOf, routeOf, writtenByHand } from './route-parts.js';
import type { RouteParts } from './route-parts.js';

const AMOUNTS: readonly ProblemCode[] = ['unit_mismatch', 'amount_missing', 'unit_unknown', 'amount_overflow'];
const CLOSED: readonly ProblemCode[] = ['reservation_finalized', 'reservation_refunded'];

/** POST /v1/reservations and what follows a reservation. */
export const reservationRoutes = (app: FastifyInstance, parts: RouteParts): void => {
  const { ledger } = parts;
  app.post<{ Body: ReserveBody }>(
    '/v1/reservations',
    routeOf(parts, reserveEndpoint(parts)),
    async (request, reply) => {
      const id = idOf(request.body.id, idempotencyKeyOf(request.headers));
      return send(request, reply, await reserve(callOf(request, ledger), { id }, request.body));
    },
  );
  app.post<{ Body: FinalizeBody; Params: ById }>(
    '/v1/reservations/:id/finalize',
    routeOf(parts, finalizeEndpoint(parts)),
    async (request, reply) =>
      send(request, reply, await finalize(callOf(request, ledger), request.params, request.body)),
  );
  app.post<{ Body: RefundBody; Params: ById }>(
    '/v1/reservations/:id/refund',
    routeOf(parts, refundEndpoint(parts)),
    async (request, reply) => send(request, reply, await refund(callOf(request, ledger), request.params, request.body)),
  );
  app.post<{ Body: ExtendBody; Params: ById }>(
    '/v1/reservations/:id/extend',
    routeOf(parts, extendEndpoint(parts)),
    async (request, reply) => send(request, reply, await extend(callOf(request, ledger), request.params, request.body)),
  );
  historyRoute(app, parts);
};

const historyRoute = (app: FastifyInstance, parts: RouteParts): void => {
  app.get<{ Params: ById }>(
    '/v1/reservations/:id',
    { ...routeOf(parts, historyEndpoint(parts)), ...writtenByHand },
    async (request, reply) => {
      const call = callOf(request, parts.ledger);
      const result = await parts.ledger.reservation(tenantOfCommand(call, undefined), request.params.id);
      if (!result.ok) return send(request, reply, refused(result.rejection));
      const { reservation, events } = result;
      const head = JSON.stringify(reservationAnswer(reservation, reservation.position)).slice(0, -1);
      return reply
        .type('application/json; charset=utf-8')
        .send(`${head},"events":[${events.map(eventText).join(',')}]}`);
    },
  );
};

const reserveEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'reserve',
  summary: 'Hold the most that a request can cost',
  description:
    "Takes an amount for each unit from 1 to 8 accounts of one tenant, all or nothing. Without `accounts`: the tenant's wallet. Without amount: the model's max_cost. What was taken stands in `amounts`.",
  tag: 'reservations',
  scope: 'reserve',
  takesIdempotencyKey: true,
  body: schemas.bodies.reserve,
  success: { 201: { description: 'Held, or held before.', content: json(schemas.answers.reservation) } },
  problems: [
    'account_not_found',
    'idempotency_key_differs',
    'tenant_required',
    'reservation_closed',
    'id_reused',
    ...AMOUNTS,
    'max_cost_unknown',
    'insufficient_quota',
    'level_not_available',
  ],
});

const finalizeEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'finalize',
  summary: 'Charge what the request really cost',
  description:
    'Charges all of it, also below zero, also after expiry (`late`). A cost above max_cost raises it. With `accounts`, a finalize without reservation is charged as well.',
  tag: 'reservations',
  scope: 'reserve',
  params: pathOf.reservation,
  body: schemas.bodies.finalize,
  success: { 200: { description: 'Charged, or charged before.', content: json(schemas.answers.finalized) } },
  problems: [
    'account_not_found',
    'reservation_not_found',
    'tenant_required',
    'reservation_refunded',
    'id_reused',
    ...AMOUNTS,
    'level_not_available',
  ],
});

const refundEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'refund',
  summary: 'Give the hold back',
  tag: 'reservations',
  scope: 'reserve',
  params: pathOf.reservation,
  body: schemas.bodies.refund,
  success: { 200: { description: 'Given back, or given back before.', content: json(schemas.answers.reservation) } },
  problems: ['reservation_not_found', 'tenant_required', 'reservation_finalized', 'amount_overflow'],
});

const extendEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'extend',
  summary: 'Move the expiry forward',
  description: 'An earlier time than the present one changes nothing.',
  tag: 'reservations',
  scope: 'reserve',
  params: pathOf.reservation,
  body: schemas.bodies.extend,
  success: { 200: { description: 'Expires then at the earliest.', content: json(schemas.answers.reservation) } },
  problems: ['reservation_not_found', 'tenant_required', ...CLOSED],
});

const historyEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'getReservation',
  summary: 'A reservation and its events',
  tag: 'reservations',
  scope: 'read',
  params: pathOf.reservation,
  success: { 200: { description: 'As it is now.', content: json(schemas.answers.history) } },
  problems: ['reservation_not_found', 'tenant_required'],
});
