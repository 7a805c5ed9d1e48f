import type { FastifyInstance } from 'fastify';
import { json } from '../endpoint.js';
import type { Endpoint } from '../endpoint.js';
import { answerTo } from '../error-handler.js';
import type { Outcome } from '../errors/problem.js';
import { runBatch } from '../operations/batch.js';
import { callOf } from '../reply.js';
import type { BatchBody } from '../schemas/batch.js';
import { routeOf, writtenByHand } from './route-parts.js';
import type { RouteParts } from './route-parts.js';

/** POST /v1/batch: up to 100 commands in one request, each answered as if it had come alone. */
export const batchRoutes = (app: FastifyInstance, parts: RouteParts): void => {
  app.post<{ Body: BatchBody }>(
    '/v1/batch',
    { ...routeOf(parts, batchEndpoint(parts)), ...writtenByHand, bodyLimit: parts.limits.batchBytesMax },
    async (request, reply) => {
      const call = callOf(request, parts.ledger);
      const outcomes = await runBatch(call, request.body.commands, (error) => answerTo(error, request, parts.logger));
      return reply.type('application/json; charset=utf-8').send(JSON.stringify({ results: outcomes.map(resultOf) }));
    },
  );
};

const resultOf = ({ status, body, replay }: Outcome): object =>
  replay === true ? { status, idempotency_hit: true, body } : { status, body };

const batchEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'batch',
  summary: 'Up to 100 commands at once',
  description:
    'Each is decided on its own and answered, in order, with the status and body that it would have had alone. Commands of one id run in order, others at once. A malformed command makes the whole request a 400 that names it, and nothing happens.',
  tag: 'reservations',
  scope: 'any',
  body: schemas.bodies.batch,
  success: { 200: { description: 'An answer for each command.', content: json(schemas.answers.batch) } },
  problems: ['level_not_available'],
});
