import { Ajv } from 'ajv';
import type { ErrorObject, ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { FastifyInstance } from 'fastify';
import { parseAmount } from '../../events/index.js';
import { ProblemError } from './errors/problem.js';
import type { SchemaShelf } from './schemas/index.js';
import { fieldAt } from './strict-json.js';

/** What ajv's ESM and CommonJS faces both come to. */
const formats = addFormats as unknown as (ajv: Ajv, names: readonly string[]) => void;

/** A whole number as a query gives it: no sign, no blank, no leading zero. */
const QUERY_INTEGER = /^(?:0|[1-9][0-9]{0,15})$/;

/**
 * Makes the instance check with these schemas, strictly: nothing is coerced, filled in or dropped. A query's text stands for a whole
 * number where the schema wants one. What does not fit becomes ProblemError `invalid_request`, naming the field.
 */
export const useStrictValidation = (app: FastifyInstance, shelf: SchemaShelf): void => {
  const ajv = new Ajv({ strict: true, strictRequired: false, strictTypes: false, discriminator: true, verbose: true });
  formats(ajv, ['date-time']);
  ajv.addFormat('amount', { type: 'string', validate: (text: string) => parseAmount(text) !== undefined });
  for (const schema of shelf.all) ajv.addSchema(schema);
  const compiled = new Map<string, ValidateFunction>();
  // Paths and headers are alike in many routes: each is compiled once.
  const compile = (schema: object): ValidateFunction => {
    const key = JSON.stringify(schema);
    const check = compiled.get(key) ?? ajv.compile(schema);
    compiled.set(key, check);
    return check;
  };
  app.setValidatorCompiler(({ schema, httpPart }) => {
    const check = compile(schema);
    const integers = httpPart === 'querystring' ? integersOf(schema) : [];
    return (data: unknown) => {
      const value = integers.length === 0 ? data : withIntegers(data, integers);
      return check(value) ? { value } : { error: toProblem(check, httpPart ?? 'body') };
    };
  });
};

const integersOf = (schema: unknown): readonly string[] => {
  const { properties } = schema as { properties?: Readonly<Record<string, { type?: string }>> };
  return Object.entries(properties ?? {}).flatMap(([name, { type }]) => (type === 'integer' ? [name] : []));
};

const withIntegers = (data: unknown, names: readonly string[]): unknown => {
  const query = { ...(data as Record<string, unknown>) };
  for (const name of names) {
    const text = query[name];
    if (typeof text === 'string' && QUERY_INTEGER.test(text)) query[name] = Number(text);
  }
  return query;
};

const toProblem = (check: ValidateFunction, part: string): ProblemError => {
  const errors = check.errors ?? [];
  // Of several, the last is the one that the others led to.
  const error = errors.at(-1);
  if (error === undefined) return new ProblemError('invalid_request', `The ${part} is not valid.`);
  const field = fieldOf(error, errors);
  if (field !== undefined && /(?:^|\.)level$/.test(field) && error.data === 'fast')
    return new ProblemError('level_not_available', 'The level fast is not offered yet; durable and replicated are.', {
      field,
    });
  const detail = `${field ?? `the ${part}`} ${messageOf(error)}`;
  return new ProblemError('invalid_request', detail, field === undefined ? {} : { field });
};

const fieldOf = (error: ErrorObject, all: readonly ErrorObject[]): string | undefined => {
  const path = error.instancePath.split('/').slice(1).map(unescapePointer).map(asStep);
  const extra = extraStep(error, all);
  return fieldAt(extra === undefined ? path : [...path, extra]);
};

/** The member that an error of an object is about. */
const extraStep = (error: ErrorObject, all: readonly ErrorObject[]): string | undefined => {
  const params = error.params as Readonly<Record<string, unknown>>;
  const named = params['additionalProperty'] ?? params['missingProperty'] ?? params['propertyName'] ?? params['tag'];
  if (typeof named === 'string') return named;
  if (error.keyword === 'not' && hasRequired(error.schema)) return 'amounts';
  if (error.keyword === 'anyOf') {
    const missing = all.find((e) => e.keyword === 'required' && e.instancePath === error.instancePath);
    return (missing?.params as { missingProperty?: string } | undefined)?.missingProperty;
  }
  return undefined;
};

const hasRequired = (schema: unknown): boolean => typeof schema === 'object' && schema !== null && 'required' in schema;
const unescapePointer = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');
const asStep = (step: string): string | number => (/^(?:0|[1-9][0-9]*)$/.test(step) ? Number(step) : step);

const messageOf = (error: ErrorObject): string => {
  switch (error.keyword) {
    case 'additionalProperties':
      return 'is not a member that this request knows';
    case 'required':
      return 'is missing';
    case 'not':
      return hasRequired(error.schema)
        ? 'is given beside amount; give one of them'
        : described(error, 'is not accepted');
    case 'propertyNames':
      return 'is not a name that is accepted here';
    case 'discriminator':
      return 'must be one of reserve, get, finalize, refund, extend, open, recharge, adjust';
    case 'anyOf':
      return hasRequired((error.schema as readonly unknown[])[0])
        ? 'is missing, and so is everything that could stand for it'
        : described(error, 'is not accepted');
    default:
      return described(error, error.message ?? 'is not accepted');
  }
};

/** What the schema says of the member, when it says something. */
const described = ({ parentSchema }: ErrorObject, otherwise: string): string => {
  const description = (parentSchema as { description?: unknown } | undefined)?.description;
  return typeof description === 'string' ? `is not valid. ${description}` : otherwise;
};
