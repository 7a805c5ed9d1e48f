import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UnavailableError } from '../core/ports.js';
import type { Logger } from '../logging.js';
import { internalError, outcomeOf, problem } from './errors/problem.js';
import type { Outcome } from './errors/problem.js';
import type { ProblemCode } from './errors/table.js';
import { send } from './reply.js';

/** What fastify itself refuses, by its code. */
const FRAMEWORK: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The body is larger than this address takes.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The body has another length than Content-Length says.'],
  FST_ERR_BAD_URL: ['invalid_request', 'The address has an escape (%…) that is none.'],
  FST_ERR_MAX_PARAM_LENGTH: ['uri_too_long', 'An id in the address is too long.'],
};

/** Turns whatever a request raises into its answer; what nobody foresaw goes to the log, not to the caller. */
export const useErrorHandler = (app: FastifyInstance, logger: Logger): void => {
  app.setErrorHandler((error: unknown, request, reply) => send(request, reply, answerTo(error, request, logger)));
};

/** For errors that fastify finds before it has a route. */
export const onFrameworkError =
  (logger: Logger) =>
  (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    send(request, reply, answerTo(error, request, logger));
  };

/** The answer to any error. */
export const answerTo = (error: unknown, request: FastifyRequest, logger: Logger): Outcome => {
  if (error instanceof UnavailableError)
    logger.warn({ code: error.code, reason: error.message, request_id: request.id }, 'answered 503');
  return outcomeOf(error) ?? frameworkOutcome(error) ?? unforeseen(error, request, logger);
};

const frameworkOutcome = (error: unknown): Outcome | undefined => {
  if (!(error instanceof Error)) return undefined;
  const { code, statusCode } = error as Partial<FastifyError>;
  const known = code === undefined ? undefined : FRAMEWORK[code];
  if (known !== undefined) return problem(...known);
  const isCallers =
    code?.startsWith('FST_') === true && statusCode !== undefined && statusCode >= 400 && statusCode < 500;
  return isCallers ? problem('invalid_request', error.message) : undefined;
};

const unforeseen = (error: unknown, request: FastifyRequest, logger: Logger): Outcome => {
  logger.error({ err: error, route: request.routeOptions.url, request_id: request.id }, 'a request failed');
  return internalError(request.id);
};
