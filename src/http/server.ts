import fastify, { LogController } from 'fastify';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { randomBytes } from 'node:crypto';
import { Keyring } from '../service/keys.js';
import { useAccessLog } from './access-log.js';
import { authenticate } from './authenticate.js';
import { onClientError } from './client-error.js';
import './context.js';
import { onFrameworkError, useErrorHandler } from './error-handler.js';
import { useStrictJson } from './json-body.js';
import { useNotFound } from './not-found.js';
import { useOpenApi } from './openapi.js';
import { useInFlightLimit } from './overload.js';
import { DEFAULT_LIMITS } from './parts.js';
import type { HttpLimits, HttpParts } from './parts.js';
import { useRoutes } from './routes/index.js';
import { shelve } from './schemas/index.js';
import { useCompiledAnswers } from './serialization.js';
import { useGracefulStop } from './stop.js';
import { useStrictValidation } from './validation.js';

/** Longest id in a path, URL-encoded: 128 characters, three bytes each. */
const PARAM_LENGTH_MAX = 384;

/**
 * The HTTP interface over a ledger, ready to `listen`. `close()` stops it gracefully: what is under way is answered.
 * Nothing of it decides: it checks, asks the ledger, and writes down what that says.
 */
export const createHttpServer = (parts: HttpParts): FastifyInstance => {
  const limits = { ...DEFAULT_LIMITS, ...parts.limits };
  const { logger, metrics, build } = parts;
  const app = newInstance(parts, limits);
  const schemas = shelve(limits);
  for (const schema of schemas.shelf.all) app.addSchema(schema);
  app.decorateRequest('caller', undefined);
  app.decorateRequest('tenant', undefined);
  app.decorateRequest('problemCode', undefined);
  useStrictJson(app);
  useStrictValidation(app, schemas.shelf);
  useCompiledAnswers(app, schemas.shelf);
  useErrorHandler(app, logger);
  useAccessLog(app, logger, metrics.http);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    done();
  });
  useNotFound(app);
  const isStopping = useGracefulStop(app, limits.stopGraceMs);
  useInFlightLimit(app, limits.maxInFlight, metrics.http);
  useKeys(app, new Keyring(parts.keys));
  useOpenApi(app, build);
  void app.register((routes, _options, done) => {
    useRoutes(routes, { ...parts, limits, schemas, isStopping });
    done();
  });
  return app;
};

const newInstance = (parts: HttpParts, limits: HttpLimits): FastifyInstance => {
  const boot = randomBytes(4).toString('hex');
  let requests = 0;
  const loggerInstance: FastifyBaseLogger = parts.logger;
  const app: FastifyInstance = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // One logger for all: a line says itself which request it is about.
    childLoggerFactory: (logger) => logger,
    genReqId: () => `${boot}-${(++requests).toString(36)}`,
    requestIdHeader: false,
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    http: { headersTimeout: limits.headersMs, maxHeaderSize: 16 * 1024, connectionsCheckingInterval: 1000 },
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    return503OnClosing: false,
    clientErrorHandler: onClientError,
    frameworkErrors: onFrameworkError(parts.logger),
  });
  app.server.maxConnections = limits.maxConnections;
  return app;
};

const useKeys = (app: FastifyInstance, keyring: Keyring): void => {
  app.addHook('onRequest', (request, _reply, done) => {
    try {
      const checking = authenticate(keyring, request);
      if (checking === undefined) done();
      else checking.then(() => done(), done);
    } catch (error) {
      done(error as Error);
    }
  });
};
