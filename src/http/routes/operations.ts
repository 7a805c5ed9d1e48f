import type { FastifyInstance } from 'fastify';
import { withoutSecrets } from '../../logging.js';
import { json } from '../endpoint.js';
import type { Endpoint } from '../endpoint.js';
import type { ReadinessReport } from '../readiness.js';
import type { ReadinessAnswer } from '../schemas/health.js';
import { routeOf } from './route-parts.js';
import type { RouteParts } from './route-parts.js';

/** /healthz, /readyz, /metrics and /openapi.json: for operators and machines, without a key. */
export const operationRoutes = (app: FastifyInstance, parts: RouteParts): void => {
  app.get('/healthz', routeOf(parts, healthEndpoint(parts)), (_request, reply) => reply.send({ status: 'alive' }));
  app.get('/readyz', routeOf(parts, readyEndpoint(parts)), async (_request, reply) => {
    const report = await parts.readiness();
    const answer = readinessAnswer(report, parts);
    return reply.code(answer.ready ? 200 : 503).send(answer);
  });
  app.get('/metrics', routeOf(parts, metricsEndpoint()), async (_request, reply) =>
    reply.type(parts.metrics.contentType).send(await parts.metrics.text()),
  );
  let document: string | undefined;
  app.get('/openapi.json', { schema: { hide: true } }, (_request, reply) => {
    document ??= JSON.stringify(app.swagger());
    return reply.type('application/json; charset=utf-8').send(document);
  });
};

const readinessAnswer = (report: ReadinessReport, { build, isStopping }: RouteParts): ReadinessAnswer => {
  const stopping = isStopping();
  const parts = report.parts.map(({ name, ok, state }) => ({ name, ok, state: withoutSecrets(state) }));
  return {
    ready: report.ready && !stopping,
    build,
    schema_version: report.schemaVersion,
    scripts: report.scripts,
    parts: stopping ? [...parts, { name: 'http', ok: false, state: 'stopping: answers what is under way' }] : parts,
  };
};

const healthEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'health',
  summary: 'Whether the program is alive',
  tag: 'operations',
  success: { 200: { description: 'It is.', content: json(schemas.answers.health) } },
  problems: [],
});

const readyEndpoint = ({ schemas }: RouteParts): Endpoint => ({
  operationId: 'ready',
  summary: "Whether it can serve, and each part's state in words",
  tag: 'operations',
  success: {
    200: { description: 'It can.', content: json(schemas.answers.readiness) },
    503: { description: 'It can not.', content: json(schemas.answers.readiness) },
  },
  problems: [],
});

const metricsEndpoint = (): Endpoint => ({
  operationId: 'metrics',
  summary: 'Metrics in the text form of Prometheus',
  tag: 'operations',
  success: { 200: { description: 'All metrics.', content: { 'text/plain': { schema: { type: 'string' } } } } },
  problems: [],
});
