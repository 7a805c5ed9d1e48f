import { CATALOGUE, EVENT_NAMES, messageJsonSchema, messageOf } from '../../events/index.js';
import { asyncApiDocument } from './asyncapi.js';
import { exampleOf } from './examples.js';

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The JSON Schemas of all events, by file name. */
export const eventSchemas = (): Map<string, string> =>
  new Map(
    EVENT_NAMES.map((name) => {
      const schema = { ...messageJsonSchema(name), examples: [JSON.parse(messageOf(exampleOf(name))) as unknown] };
      return [`${name.toLowerCase()}.v${CATALOGUE[name].version.toString()}.schema.json`, json(schema)];
    }),
  );

/** Everything that stands in schemas/ and is made from events/, by file name. `version` is the release's. */
export const schemaDocuments = (version: string): Map<string, string> =>
  new Map([...eventSchemas(), ['asyncapi.yaml', asyncApiDocument(version)]]);
