import { Amount } from './amount.js';
import { CATALOGUE, EVENT_NAMES } from './catalogue.js';
import type { EventName, EventPayload } from './catalogue.js';
import { SEQUENCE_DIGITS, SOURCE_PREFIX } from './envelope.js';
import type { EventPlace, LedgerEvent } from './envelope.js';
import { AST } from './schema.js';
import { readType } from './upcast.js';
import type { EncodedData } from './upcast.js';

/** The JSON of a canonical body, once checked against its schema. */
export interface EncodedEvent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
  readonly subject: string;
  readonly sequence: string;
  readonly position: string;
  readonly partition: number;
  readonly incarnation: number;
  readonly tenant: string;
  readonly traceparent?: string;
  readonly data: EncodedData;
}

/** Raised when the log holds an event that this program cannot read: it must stop there, and skip nothing. */
export class UnknownEventError extends Error {
  override readonly name = 'UnknownEventError';
  constructor(
    readonly type: string,
    readonly where: string,
  ) {
    super(`The log holds an event of type ${type} at ${where}, which this program does not know. Run a later release.`);
  }
}

/** Raised when a body is not an event of this ledger's form. It says what is wrong and where, and never quotes what the event holds. */
export class MalformedEventError extends Error {
  override readonly name = 'MalformedEventError';
}

type Read = (value: unknown) => unknown;

/**
 * How to turn checked JSON of a schema into its value: texts of amounts become bigint, members that the schema does
 * not name are left out. Undefined when the JSON is the value.
 */
const readerOf = (ast: AST.AST): Read | undefined => {
  if (ast === Amount.ast) return (value) => BigInt(value as string);
  if (AST.isTupleType(ast)) {
    const [item] = ast.rest;
    const read = item === undefined ? undefined : readerOf(item.type);
    return read === undefined ? undefined : (value) => (value as readonly unknown[]).map(read);
  }
  if (!AST.isTypeLiteral(ast) || ast.indexSignatures.length > 0) return undefined;
  return readMembers(new Map(ast.propertySignatures.map((p) => [p.name as string, readerOf(p.type) ?? same])));
};

const same: Read = (value) => value;

const readMembers =
  (members: ReadonlyMap<string, Read>): Read =>
  (value) => {
    const out: Record<string, unknown> = {};
    for (const [key, inner] of Object.entries(value as EncodedData)) {
      const read = members.get(key);
      if (read !== undefined) out[key] = read(inner);
    }
    return out;
  };

const DATA_READERS = new Map<EventName, Read>(
  EVENT_NAMES.map((name) => [name, readerOf(CATALOGUE[name].data.ast) ?? same]),
);

const dataFrom = (name: EventName, data: EncodedData): unknown => (DATA_READERS.get(name) ?? same)(data);

const whereOf = ({ partition, position }: EncodedEvent): string =>
  `partition ${partition.toString()}, position ${position}`;

/** The place of an event; `id` and `sequence` say it a second time and must agree. */
const placeFrom = (encoded: EncodedEvent): EventPlace => {
  const ledger = encoded.source.slice(SOURCE_PREFIX.length);
  const position = Number(encoded.position);
  if (!Number.isSafeInteger(position))
    throw new MalformedEventError(`The event at ${whereOf(encoded)} has a position beyond 2^53 − 1.`);
  if (encoded.sequence !== encoded.position.padStart(SEQUENCE_DIGITS, '0'))
    throw new MalformedEventError(`The event at ${whereOf(encoded)} has a sequence that is not its position.`);
  if (encoded.id !== `${ledger}.${encoded.partition.toString()}.${encoded.position}`)
    throw new MalformedEventError(
      `The event at ${whereOf(encoded)} has an id that is not its source, partition and position.`,
    );
  return {
    ledger,
    partition: encoded.partition,
    position,
    incarnation: encoded.incarnation,
    timeMs: Date.parse(encoded.time),
    tenant: encoded.tenant,
    subject: encoded.subject,
    ...(encoded.traceparent === undefined ? {} : { traceparent: encoded.traceparent }),
  };
};

/**
 * Turns checked JSON into an event: amounts become bigint, old versions are lifted.
 * Members that the present version does not name are left out of the event (they stay in the body, under its hash): an
 * adjacent release may add optional members to a version, and only such as do not change what the others mean.
 * `check` is the compiled form of the schema of that event's present version; it raises what is wrong.
 * Raises UnknownEventError for a type or version that this program does not know, MalformedEventError for a place that contradicts itself.
 */
export const eventFrom = (
  encoded: EncodedEvent,
  check: (name: EventName, data: EncodedData, where: string) => void,
): LedgerEvent => {
  const read = readType(encoded.type, encoded.data);
  if (!read.known) throw new UnknownEventError(encoded.type, whereOf(encoded));
  check(read.name, read.data, whereOf(encoded));
  const payload = { name: read.name, data: dataFrom(read.name, read.data) } as EventPayload;
  return { ...placeFrom(encoded), ...payload };
};
