import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Ledger } from '../service/ledger.js';
import type { Call } from './context.js';
import type { Outcome } from './errors/problem.js';
import { traceparentOf } from './headers.js';

/** What the operations get from a request whose key was checked. */
export const callOf = (request: FastifyRequest, ledger: Ledger): Call => {
  const { caller } = request;
  if (caller === undefined) throw new Error('A route without a scope made a call.');
  return {
    ledger,
    caller,
    traceparent: traceparentOf(request.headers),
    onTenant: (tenant) => {
      request.tenant = tenant;
    },
  };
};

/** Writes an answer. */
export const send = (request: FastifyRequest, reply: FastifyReply, outcome: Outcome): FastifyReply => {
  request.problemCode = outcome.code;
  void reply.code(outcome.status);
  if (outcome.headers !== undefined) void reply.headers(outcome.headers);
  return reply.send(outcome.body);
};
