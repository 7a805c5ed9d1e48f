import buildSerializer from 'fast-json-stringify';
import type { Schema } from 'fast-json-stringify';
import type { FastifyInstance } from 'fastify';
import type { SchemaShelf } from './schemas/index.js';

type Serialize = (value: unknown) => string;

/**
 * Makes the instance write its answers by functions compiled from their schemas, each compiled once. (Left to itself, fastify compiles
 * one for every status of every route: 1.4 s of CPU at start, measured.) Problems are rare and small: plain JSON.stringify.
 */
export const useCompiledAnswers = (app: FastifyInstance, shelf: SchemaShelf): void => {
  const compiled = new Map<string, Serialize>();
  const compile = (name: string): Serialize => {
    // Its types name every keyword of JSON Schema one by one; ours is any JSON object.
    const { [name]: schema = {}, ...externals } = shelf.closure(name) as unknown as Readonly<Record<string, Schema>>;
    return buildSerializer(schema, { schema: externals });
  };
  app.setSerializerCompiler(({ schema }) => {
    const { $ref } = schema as { $ref?: string };
    if ($ref === undefined || $ref === 'Problem#') return JSON.stringify;
    const name = $ref.slice(0, -1);
    const serialize = compiled.get(name) ?? compile(name);
    compiled.set(name, serialize);
    return serialize;
  });
};
