import type { CATALOGUE } from './catalogue.js';
import type { EventPayload } from './catalogue.js';
import type { LedgerEvent } from './envelope.js';
import { readType } from './upcast.js';
import type { EncodedData } from './upcast.js';

/** The JSON of a canonical body, once checked against its schema. */
export interface EncodedEvent {
  readonly source: string;
  readonly type: string;
  readonly time: string;
  readonly subject: string;
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

/** Members of `data` that hold amounts, by event: those of its schema whose type is Amount. */
const AMOUNT_MEMBERS = new Set(['amount', 'released', 'overdraft_limit', 'previous']);

const amountsFrom = (item: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(item))
    out[key] = key === 'account' || key === 'unit' ? value : BigInt(value as string);
  return out;
};

const dataFrom = (data: EncodedData): Record<string, unknown> => {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(data)) {
    if (AMOUNT_MEMBERS.has(key)) out[key] = BigInt(value as string);
    else if (key === 'postings' || key === 'requested')
      out[key] = (value as readonly Record<string, unknown>[]).map(amountsFrom);
    else out[key] = value;
  }
  return out;
};

/**
 * Turns checked JSON into an event: amounts become bigint, old versions are lifted.
 * `check` is the compiled form of the schema of that event's present version; it raises what is wrong.
 * Raises UnknownEventError for a type or version that this program does not know.
 */
export const eventFrom = (
  encoded: EncodedEvent,
  check: (name: keyof typeof CATALOGUE, data: EncodedData) => void,
): LedgerEvent => {
  const read = readType(encoded.type, encoded.data);
  if (!read.known)
    throw new UnknownEventError(
      encoded.type,
      `partition ${encoded.partition.toString()}, position ${encoded.position}`,
    );
  check(read.name, read.data);
  const payload = { name: read.name, data: dataFrom(read.data) } as unknown as EventPayload;
  return {
    ledger: encoded.source.slice('urn:holdfast:'.length),
    partition: encoded.partition,
    position: Number(encoded.position),
    incarnation: encoded.incarnation,
    timeMs: Date.parse(encoded.time),
    tenant: encoded.tenant,
    subject: encoded.subject,
    ...(encoded.traceparent === undefined ? {} : { traceparent: encoded.traceparent }),
    ...payload,
  };
};
