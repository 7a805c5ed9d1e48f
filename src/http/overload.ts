import type { FastifyInstance } from 'fastify';
import type { HttpMetrics } from '../metrics/index.js';
import { ProblemError } from './errors/problem.js';

/**
 * Bounds the requests under way: beyond `max` the answer is 503 `overloaded` at once, before anything is read or asked.
 * Health and metrics are always answered: an operator must see what is going on.
 */
export const useInFlightLimit = (app: FastifyInstance, max: number, metrics: HttpMetrics): void => {
  let underWay = 0;
  const move = (by: number): void => {
    underWay += by;
    metrics.inFlight(underWay);
  };
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.scope === undefined) {
      done();
      return;
    }
    if (underWay >= max) {
      done(new ProblemError('overloaded', `${max.toString()} requests are under way. Nothing happened; try again.`));
      return;
    }
    move(1);
    // `close` comes after the answer, and also when the caller went away before it.
    reply.raw.once('close', () => move(-1));
    done();
  });
};
