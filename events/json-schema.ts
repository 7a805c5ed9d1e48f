import { CATALOGUE, wireType } from './catalogue.js';
import type { EventName } from './catalogue.js';
import { ENVELOPE_FIELDS } from './envelope.js';
import { JSONSchema, Schema } from './schema.js';

/*
 * The schemas as JSON Schema (draft-07), for the compiled check and for those who read the log in another language.
 * Objects are open: a later release may add optional members to a version, and a reader ignores those that it does not know.
 */

export type JsonSchema = Readonly<Record<string, unknown>>;

const DRAFT = 'http://json-schema.org/draft-07/schema#';
const HASH = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;

/** Takes out what the generator adds of its own: closed objects, empty lists, texts that only repeat a pattern. */
const tidy = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(tidy);
  if (typeof schema !== 'object' || schema === null) return schema;
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'additionalProperties' && value === false) continue;
    if (key === 'required' && Array.isArray(value) && value.length === 0) continue;
    if (key === 'title' && value === 'Int') continue;
    if (key === 'description' && typeof value === 'string' && /^a (?:string|number|non-|positive)/.test(value))
      continue;
    out[key] = tidy(value);
  }
  return out;
};

const make = (schema: Schema.Schema.All): Record<string, unknown> =>
  tidy(JSONSchema.make(schema as Schema.Schema<unknown>)) as Record<string, unknown>;

/** The schema of an event's `data` at its present version, self-contained: `$ref` into its own `$defs`. */
export const dataJsonSchema = (name: EventName): JsonSchema => make(CATALOGUE[name].data);

/** The schema of everything around `data`, whatever the event. Self-contained. */
export const envelopeJsonSchema = (): JsonSchema => {
  const { properties, required, ...rest } = make(Schema.Struct(ENVELOPE_FIELDS));
  return {
    ...rest,
    properties: { ...(properties as JsonSchema), data: { type: 'object' } },
    required: [...(required as readonly string[]), 'data'],
  };
};

/** The schema of a whole Kafka value: the event `name` as a CloudEvent in structured mode, with its two hashes. */
export const messageJsonSchema = (name: EventName): JsonSchema => {
  const envelope = envelopeJsonSchema();
  const data = dataJsonSchema(name);
  const { [name]: body, ...defs } = data['$defs'] as Readonly<Record<string, JsonSchema>>;
  const properties = envelope['properties'] as Readonly<Record<string, JsonSchema>>;
  return {
    $schema: DRAFT,
    title: name,
    description: body?.['description'],
    type: 'object',
    required: [...(envelope['required'] as readonly string[]), 'prevhash', 'hash'],
    properties: {
      ...properties,
      type: { ...properties['type'], enum: [wireType(name)] },
      data: body,
      prevhash: { ...HASH, description: "The previous event's hash; at position 1, that of the ledger and partition" },
      hash: { ...HASH, description: 'SHA-256 over the 32 bytes of prevhash and the canonical body' },
    },
    $defs: { ...(envelope['$defs'] as JsonSchema), ...defs },
  };
};
