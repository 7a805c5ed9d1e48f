import type { FastifyInstance } from 'fastify';
import { json } from '../endpoint.js';
import type { Endpoint } from '../endpoint.js';
import { getModel, setMaxCost } from '../operations/model.js';
import { callOf, send } from '../reply.js';
import type { MaxCostBody } from '../schemas/model.js';
import type { ById } from '../schemas/names.js';
import { pathOf, routeOf } from './route-parts.js';
import type { RouteParts } from './route-parts.js';

/** PUT /v1/models/{id}/max-cost and GET /v1/models/{id}. Models are no tenant's: they are the same for all. */
export const modelRoutes = (app: FastifyInstance, parts: RouteParts): void => {
  const { ledger } = parts;
  app.put<{ Body: MaxCostBody; Params: ById }>(
    '/v1/models/:id/max-cost',
    routeOf(parts, setEndpoint(parts)),
    async (request, reply) =>
      send(request, reply, await setMaxCost(callOf(request, ledger), request.params.id, request.body)),
  );
  app.get<{ Params: ById }>('/v1/models/:id', routeOf(parts, getEndpoint(parts)), async (request, reply) =>
    send(request, reply, await getModel(callOf(request, ledger), request.params.id)),
  );
};

const setEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'setMaxCost',
  summary: "Set a model's max_cost",
  description: 'Upward or downward, for the units given; a raise that waited for an operator is answered thereby.',
  tag: 'models',
  scope: 'admin',
  params: pathOf.model,
  body: schemas.bodies.maxCost,
  success: { 200: { description: 'Set.', content: json(schemas.answers.model) } },
  problems: [],
});

const getEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'getModel',
  summary: "A model's max_cost",
  tag: 'models',
  scope: 'read',
  params: pathOf.model,
  success: { 200: { description: 'Its max_cost for each unit.', content: json(schemas.answers.model) } },
  problems: ['model_not_found'],
});
