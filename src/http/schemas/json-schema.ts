import { JSONSchema } from '../../../events/schema.js';
import type { Schema } from '../../../events/schema.js';

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [member: string]: Json;
}

const LOCAL = '#/$defs/';

/**
 * JSON Schemas made from @effect/schema definitions: the same objects validate what comes in (ajv), write what goes out
 * (fast-json-stringify) and document both (OpenAPI). Named schemas are kept once and referred to as `Name#`.
 */
export class SchemaShelf {
  private readonly named = new Map<string, JsonObject>();

  /** The named schemas, each with its `$id`. */
  get all(): readonly (JsonObject & { readonly $id: string })[] {
    return [...this.named].map(([$id, schema]) => ({ $id, ...schema }));
  }

  /**
   * Puts a schema, with all that it refers to, on the shelf and returns the reference to it.
   * `rules` are added to it: what a type can't say (`not`, `anyOf` over members).
   * Raises an Error when another schema of its name stands there already.
   */
  put<A, I>(schema: Schema.Schema<A, I>, rules: JsonObject = {}): { readonly $ref: string } {
    const root = JSONSchema.make(schema) as unknown as JsonObject;
    const defs = root['$defs'] as JsonObject | undefined;
    for (const [name, definition] of Object.entries(defs ?? {}))
      if (root['$ref'] !== `${LOCAL}${name}`) this.keep(name, tidy(definition) as JsonObject);
    const ref = root['$ref'];
    if (typeof ref !== 'string') throw new Error('A schema of the HTTP interface needs an identifier.');
    const name = ref.slice(LOCAL.length);
    this.keep(name, { ...(tidy(defs?.[name] ?? {}) as JsonObject), ...rules });
    return { $ref: `${name}#` };
  }

  /** Puts a schema that is written as JSON Schema. */
  putJson(name: string, schema: JsonObject): { readonly $ref: string } {
    this.keep(name, schema);
    return { $ref: `${name}#` };
  }

  /** One by its name. Raises an Error when there is none. */
  get(name: string): JsonObject {
    const schema = this.named.get(name);
    if (schema === undefined) throw new Error(`No schema ${name} is on the shelf.`);
    return schema;
  }

  /** The named schemas that one needs, itself among them, by their names. */
  closure(name: string, found: Record<string, JsonObject> = {}): Readonly<Record<string, JsonObject>> {
    if (name in found) return found;
    found[name] = this.get(name);
    for (const [, other = ''] of JSON.stringify(found[name]).matchAll(/"\$ref":"([A-Za-z]+)#"/g))
      this.closure(other, found);
    return found;
  }

  private keep(name: string, schema: JsonObject): void {
    const known = this.named.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`Two schemas of the HTTP interface are called ${name}.`);
    this.named.set(name, schema);
  }
}

/** A schema without a name: parameters of a path or a query. */
export const inlineSchema = <A, I>(schema: Schema.Schema<A, I>): JsonObject => {
  const root = Object.entries(JSONSchema.make(schema) as unknown as JsonObject).filter(([key]) => key !== '$schema');
  return tidy(Object.fromEntries(root)) as JsonObject;
};

/** Takes away what JSONSchema.make adds and nobody needs, and makes references absolute. */
const tidy = (node: Json): Json => {
  if (isList(node)) return node.map(tidy);
  if (node === null || typeof node !== 'object') return node;
  const out: Record<string, Json> = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === '$ref' && typeof value === 'string') out[key] = `${value.slice(LOCAL.length)}#`;
    else if (!isNoise(key, value)) out[key] = tidy(value);
  }
  return asMap(out);
};

const isList = (node: Json): node is readonly Json[] => Array.isArray(node);

const NOISE: Readonly<Record<string, RegExp>> = {
  $id: /^\/schemas\/(?:unknown|any)$/,
  title: /^(?:Int|unknown)$/,
  description: /^(?:an integer|a string matching the pattern |a number between |a number )/,
};

const isNoise = (key: string, value: Json): boolean => typeof value === 'string' && NOISE[key]?.test(value) === true;

/** A record is written as an object with a pattern that every name fits: say it plainly. */
const asMap = (node: Record<string, Json>): JsonObject => {
  const patterns = node['patternProperties'] as JsonObject | undefined;
  if (patterns === undefined || Object.keys(patterns).join() !== '') return node;
  const value = patterns[''] as JsonObject;
  const rest = Object.entries(node).filter(([key]) => !['patternProperties', 'required', 'properties'].includes(key));
  return { ...Object.fromEntries(rest), additionalProperties: Object.keys(value).length === 0 ? true : value };
};
