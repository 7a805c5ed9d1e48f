import type { FastifyInstance } from 'fastify';
import { accountRoutes } from './accounts.js';
import { batchRoutes } from './batch.js';
import { modelRoutes } from './models.js';
import { operationRoutes } from './operations.js';
import { reservationRoutes } from './reservations.js';
import type { RouteParts } from './route-parts.js';
import { trailRoutes } from './trail.js';

/** Every route of the interface; those of the ledger are left out where a process does not serve it. */
export const useRoutes = (app: FastifyInstance, parts: RouteParts): void => {
  operationRoutes(app, parts);
  if (parts.operationsOnly === true) return;
  accountRoutes(app, parts);
  trailRoutes(app, parts);
  reservationRoutes(app, parts);
  batchRoutes(app, parts);
  modelRoutes(app, parts);
};
