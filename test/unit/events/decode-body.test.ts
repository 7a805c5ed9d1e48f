import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CATALOGUE,
  ENVELOPE_FIELDS,
  EVENT_NAMES,
  MalformedEventError,
  UnknownEventError,
  canonicalBody,
  wireType,
} from '../../../events/index.js';
import { ParseResult, Schema } from '../../../events/schema.js';
import { compileDecodeBody } from '../../../src/validation/decode-body.js';
import { mutations } from './mutation.js';
import { anyEvent } from './random-events.js';

const decode = compileDecodeBody();

const Envelope = Schema.Struct({
  ...ENVELOPE_FIELDS,
  data: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
});

type Outcome = { readonly kind: 'event'; readonly event: unknown } | { readonly kind: 'unknown' | 'malformed' };

/** The slow and obvious way: Effect's own decoder, then the rules that no schema states. */
const byEffect = (body: string): Outcome => {
  try {
    const { data, source, type, time, position, id, sequence, ...rest } = Schema.decodeUnknownSync(Envelope)(
      JSON.parse(body),
    );
    const name = EVENT_NAMES.find((known) => wireType(known) === type);
    if (name === undefined) return { kind: 'unknown' };
    const value = Schema.decodeUnknownSync(CATALOGUE[name].data as unknown as Schema.Schema<unknown>)(data);
    const ledger = source.slice('urn:holdfast:'.length);
    const agrees =
      id === [ledger, rest.partition, position].join('.') &&
      BigInt(sequence) === BigInt(position) &&
      BigInt(position) < 2n ** 53n;
    if (!agrees) return { kind: 'malformed' };
    const { partition, incarnation, tenant, subject, traceparent } = rest;
    const trace = traceparent === undefined ? {} : { traceparent };
    const place = { ledger, partition, position: Number(position), incarnation, tenant, subject, ...trace };
    const event = { ...place, timeMs: Date.parse(time), name, data: value };
    return { kind: 'event', event };
  } catch (error) {
    if (ParseResult.isParseError(error)) return { kind: 'malformed' };
    throw error;
  }
};

const byCompiled = (body: string): Outcome => {
  try {
    return { kind: 'event', event: decode(body) };
  } catch (error) {
    if (error instanceof UnknownEventError) return { kind: 'unknown' };
    if (error instanceof MalformedEventError) return { kind: 'malformed' };
    throw error;
  }
};

describe.each(EVENT_NAMES)('the compiled check of %s', (name) => {
  test('reads back what was written, to the byte', () => {
    fc.assert(
      fc.property(anyEvent(name), (event) => {
        const body = canonicalBody(event);
        expect(decode(body)).toEqual(event);
        expect(canonicalBody(decode(body))).toBe(body);
      }),
      { numRuns: 60 },
    );
  });

  test('is written as Schema.encode writes it', () => {
    fc.assert(
      fc.property(anyEvent(name), (event) => {
        const { data } = JSON.parse(canonicalBody(event)) as { data: unknown };
        expect(data).toEqual(Schema.encodeSync(CATALOGUE[name].data as unknown as Schema.Schema<unknown>)(event.data));
      }),
      { numRuns: 60 },
    );
  });

  test('accepts and refuses what Schema.decode does, and gives the same value', () => {
    const seen = { event: 0, unknown: 0, malformed: 0 };
    fc.assert(
      fc.property(anyEvent(name), mutations, (event, mutate) => {
        const body = mutate(canonicalBody(event));
        const outcome = byCompiled(body);
        seen[outcome.kind]++;
        expect(outcome).toEqual(byEffect(body));
      }),
      { numRuns: 300 },
    );
    expect(seen.event).toBeGreaterThan(10);
    expect(seen.malformed).toBeGreaterThan(50);
  });
});

describe('a body that cannot be read', () => {
  const [event] = fc.sample(anyEvent('Recharged'), { numRuns: 1, seed: 1 });
  if (event === undefined) throw new Error('no sample');
  const body = canonicalBody({ ...event, partition: 3, position: 12 });

  test('of an unknown type is named with its place', () => {
    const later = body.replace('com.holdfast.recharged.v1', 'com.holdfast.gifted.v1');
    expect(() => decode(later)).toThrow(/com\.holdfast\.gifted\.v1 at partition 3, position 12/);
  });

  test('of a later version is named with its place', () => {
    const later = body.replace('recharged.v1', 'recharged.v2');
    expect(() => decode(later)).toThrow(UnknownEventError);
    expect(() => decode(later)).toThrow(/com\.holdfast\.recharged\.v2 at partition 3, position 12/);
  });

  test('says what is wrong and quotes nothing of it', () => {
    const amount = /"amount":"[^"]*"/;
    expect(() => decode(body.replace(amount, '"amount":"secret"'))).toThrow(
      /^The Recharged event at partition 3, position 12 is malformed: amount must match/,
    );
    expect(() => decode(body.replace(amount, '"amount":"9223372036854775808"'))).toThrow(
      /amount must match format "int64"/,
    );
    expect(() => decode('{"secret"')).toThrow('The log holds a body that is not JSON.');
  });

  test('is not one that has members more than this release knows', () => {
    const later = body.replace('"data":{', '"later":1,"data":{"later":{"a":1},');
    expect(decode(later)).toEqual(decode(body));
  });
});
