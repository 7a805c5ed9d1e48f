import type { FastifyContextConfig, FastifySchema } from 'fastify';
import { schemaOf } from '../endpoint.js';
import type { Endpoint } from '../endpoint.js';
import type { HttpLimits, HttpParts } from '../parts.js';
import { AccountPath, IdPath } from '../schemas/names.js';
import { inlineSchema } from '../schemas/json-schema.js';
import type { Shelved } from '../schemas/index.js';

/** What the routes are made of. */
export interface RouteParts extends HttpParts {
  readonly limits: HttpLimits;
  readonly schemas: Shelved;
  /** True once the server was told to stop. */
  readonly isStopping: () => boolean;
}

/** The options of a route from its description. */
export const routeOf = (
  { schemas }: RouteParts,
  endpoint: Endpoint,
): { readonly schema: FastifySchema; readonly config: FastifyContextConfig } => ({
  schema: schemaOf(endpoint, schemas.answers.quota, schemas.answers.problem),
  config: endpoint.scope === undefined ? {} : { scope: endpoint.scope },
});

/** The path parameter `id` of each noun. */
export const pathOf = {
  account: inlineSchema(AccountPath),
  reservation: inlineSchema(IdPath),
  model: inlineSchema(IdPath),
} as const;

/** For answers that are written as text already: the schema only documents them. */
export const writtenByHand = { serializerCompiler: () => JSON.stringify } as const;
