import fc from 'fast-check';
import { CATALOGUE, EVENT_NAMES } from '../../../events/index.js';
import type { EventName, EventPayload, EventPlace, LedgerEvent } from '../../../events/index.js';
import { Arbitrary } from '../../../events/schema.js';
import type { Schema } from '../../../events/schema.js';

/** What JSON keeps of a value: events hold callers' JSON, which never has an undefined or a −0. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The schema package carries a fast-check of its own, of another major version: it is handed ours. */
const dataOf = (name: EventName): fc.Arbitrary<Record<string, unknown>> => {
  const make: unknown = Arbitrary.makeLazy(CATALOGUE[name].data as unknown as Schema.Schema<unknown>);
  return (make as (using: typeof fc) => fc.Arbitrary<Record<string, unknown>>)(fc);
};

const payloadOf = (name: EventName): fc.Arbitrary<EventPayload> =>
  dataOf(name).map(
    (data) =>
      ({
        name,
        data: { ...data, ...('metadata' in data ? { metadata: asJson(data['metadata']) } : {}) },
      }) as unknown as EventPayload,
  );

const identifier = fc.stringMatching(/^[A-Za-z0-9._:@/-]{1,40}$/);

const place: fc.Arbitrary<EventPlace> = fc
  .record({
    ledger: fc.uuid(),
    partition: fc.nat({ max: 1023 }),
    position: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    incarnation: fc.integer({ min: 1, max: 1000 }),
    timeMs: fc.integer({ min: 0, max: Date.parse('9999-12-31T00:00:00Z') }),
    tenant: identifier,
    subject: identifier,
    traceparent: fc.option(fc.constant('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'), { nil: undefined }),
  })
  .map(({ traceparent, ...rest }) => ({ ...rest, ...(traceparent === undefined ? {} : { traceparent }) }));

/** No way in lets this name pass: Effect's records, and much other code, lose it. */
const isNamed = (payload: EventPayload): boolean => {
  const text = JSON.stringify(payload, (_key, value: unknown) => (typeof value === 'bigint' ? '' : value));
  return !text.includes('"__proto__":');
};

/** Any event that the schemas and the checks at the way in allow, of this name or of any. */
export const anyEvent = (name?: EventName): fc.Arbitrary<LedgerEvent> =>
  fc
    .tuple(place, name === undefined ? fc.oneof(...EVENT_NAMES.map(payloadOf)) : payloadOf(name))
    .filter(([, payload]) => isNamed(payload))
    .map(([where, payload]) => ({ ...where, ...payload }));
