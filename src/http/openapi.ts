import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { Build } from './readiness.js';

const DESCRIPTION = `An event-sourced ledger for services that sell inference: reserve the most that a request can cost,
finalize with what it really cost, or refund.

- **Amounts** are whole numbers of the unit's smallest part, as decimal strings. Times are RFC 3339 in UTC.
- **Ids** are the callers'. A command that comes again with its id answers as the first time, with the header \`idempotency-hit: true\`.
- **Errors** are \`application/problem+json\` with a stable \`code\`; out of quota is 429 with the body that OpenAI's clients know.
- **Ids in a path** are URL-encoded: the account \`acme/team\` is \`/v1/accounts/acme%2Fteam\`.`;

/** The members of the document that are made before it is shown. */
interface Document {
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> };
}

/** Registers the OpenAPI 3.1 document at /openapi.json and its page at /docs. Before the routes. */
export const useOpenApi = (app: FastifyInstance, build: Build): void => {
  void app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Holdfast',
        description: DESCRIPTION,
        version: build.version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'accounts', description: 'Wallets, budgets, quotas: what a cost is taken from.' },
        { name: 'reservations', description: 'Hold, then charge or give back.' },
        { name: 'models', description: 'What a request of a model can cost at most.' },
        { name: 'operations', description: 'Health, readiness, metrics.' },
      ],
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'A key: `hf_…`' } } },
    },
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, index) =>
        typeof schema['$id'] === 'string' ? schema['$id'] : `schema-${index.toString()}`,
    },
    transformObject: (described) => {
      const document = 'openapiObject' in described ? described.openapiObject : described.swaggerObject;
      nameBatchChoices(document as Document);
      return document;
    },
  });
  void app.register(swaggerUi, { routePrefix: '/docs', uiConfig: { deepLinking: true }, staticCSP: true });
};

/** Which schema an `op` chooses: OpenAPI wants it said, ajv reads it from the schemas. */
const nameBatchChoices = ({ components }: Document): void => {
  const batch = components?.schemas?.['Batch'] as BatchSchema | undefined;
  const items = batch?.properties.commands.items;
  if (items === undefined) return;
  const refs = items.oneOf.map(({ $ref }) => $ref);
  const opOf = (ref: string): string => ref.slice(ref.lastIndexOf('/Batch') + '/Batch'.length).toLowerCase();
  items.discriminator.mapping = Object.fromEntries(refs.map((ref) => [opOf(ref), ref]));
};

interface BatchSchema {
  readonly properties: {
    readonly commands: {
      readonly items: {
        readonly oneOf: readonly { readonly $ref: string }[];
        readonly discriminator: { mapping?: Readonly<Record<string, string>> };
      };
    };
  };
}
