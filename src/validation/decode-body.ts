import { Ajv } from 'ajv';
import type { ErrorObject, ValidateFunction } from 'ajv';
import {
  EVENT_NAMES,
  MalformedEventError,
  dataJsonSchema,
  envelopeJsonSchema,
  eventFrom,
  isTimestamp,
  parseAmount,
} from '../../events/index.js';
import type { EncodedData, EncodedEvent, EventName } from '../../events/index.js';
import type { DecodeBody } from '../core/ports.js';

/** Digits that any 64-bit number has room for: shorter texts need no comparison. */
const SURE_DIGITS = 18;

/** The pattern beside it has seen to the form; what is left is the range. */
const isInt64 = (text: string): boolean => text.length <= SURE_DIGITS || parseAmount(text) !== undefined;

/** Says where and what, never the value: events hold customers' data. */
const reasonOf = (errors: readonly ErrorObject[] | null | undefined): string => {
  const [first] = errors ?? [];
  if (first === undefined) return 'it does not fit its schema';
  const where = first.instancePath === '' ? 'it' : first.instancePath.slice(1);
  return `${where} ${first.message ?? 'does not fit its schema'}`;
};

const parse = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    // The parser's own message quotes the body.
    throw new MalformedEventError('The log holds a body that is not JSON.');
  }
};

/**
 * Compiles the check of event bodies from the schemas in events/ (once, at start: some 30 ms) and returns what decodes them.
 * It accepts exactly what `Schema.decode` accepts and gives the same value, at a tenth of the cost (stack.md's hot-path rule).
 * The returned function raises UnknownEventError for a type or version that this release does not know, and
 * MalformedEventError for anything that is no event; members that the schema does not name are tolerated (see eventFrom).
 */
export const compileDecodeBody = (): DecodeBody => {
  const ajv = new Ajv({ strict: true, strictTypes: false, allErrors: false });
  ajv.addFormat('int64', { type: 'string', validate: isInt64 });
  ajv.addFormat('date-time', { type: 'string', validate: isTimestamp });
  const envelope = ajv.compile<EncodedEvent>(envelopeJsonSchema());
  const checks = new Map<EventName, ValidateFunction>(
    EVENT_NAMES.map((name) => [name, ajv.compile(dataJsonSchema(name))]),
  );
  const check = (name: EventName, data: EncodedData, where: string): void => {
    const validate = checks.get(name);
    if (validate === undefined) throw new Error(`No check was compiled for ${name}.`);
    if (!validate(data))
      throw new MalformedEventError(`The ${name} event at ${where} is malformed: ${reasonOf(validate.errors)}.`);
  };
  return (body) => {
    const encoded = parse(body);
    if (!envelope(encoded))
      throw new MalformedEventError(`An event's envelope is malformed: ${reasonOf(envelope.errors)}.`);
    return eventFrom(encoded, check);
  };
};
