import type { FastifyInstance } from 'fastify';
import { UnavailableError } from '../core/ports.js';

/** How often connections that fell idle are closed while the server stops, ms. */
const IDLE_CHECK_MS = 50;

/**
 * Makes `close()` graceful: no new connection, what is under way is answered (each answer closes its connection), a request that
 * still comes on an open one is answered 503 `stopping`, and after `graceMs` what is left is cut. Returns whether the server stops.
 */
export const useGracefulStop = (app: FastifyInstance, graceMs: number): (() => boolean) => {
  let stopping = false;
  const timers: NodeJS.Timeout[] = [];
  app.addHook('onRequest', (request, _reply, done) => {
    const refused = stopping && request.routeOptions.config.scope !== undefined;
    done(refused ? new UnavailableError('stopping', 'The server is stopping.') : undefined);
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (stopping) void reply.header('connection', 'close');
    done();
  });
  app.addHook('preClose', (done) => {
    stopping = true;
    // An answer whose headers were already out when the stop began leaves its connection open: close it once it is idle.
    timers.push(setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS));
    timers.push(setTimeout(() => app.server.closeAllConnections(), graceMs));
    done();
  });
  app.addHook('onClose', (_app, done) => {
    for (const timer of timers) clearInterval(timer);
    done();
  });
  return () => stopping;
};
