import fc from 'fast-check';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Values that sit on an edge of some rule: 64 bits, 2^53, text forms of numbers, dates that do not exist. */
const EDGES: readonly Json[] = [
  ...['0', '-0', '+1', '01', '1.0', '1e3', '', ' 5', '5 ', '5\n', '٣', '9223372036854775807', '9223372036854775808'],
  ...['-9223372036854775808', '-9223372036854775809', '99999999999999999999', '9007199254740993', '1.1', 'USD', 'usd'],
  ...['2026-02-30T00:00:00.000Z', '2026-02-28T24:00:00.000Z', '2026-02-28T23:59:60.000Z', '2026-02-28T00:00:00Z'],
  ...['com.holdfast.reserved.v2', 'com.holdfast.reserved.v01', 'com.holdfast.nothing.v1', 'urn:holdfast:', 'urn:x:y'],
  ...['a'.repeat(128), 'a'.repeat(129), 'a'.repeat(500), '😀'.repeat(300), '😀'.repeat(501), '\ud800', 'a b', 'é'],
  ...[0, -1, 1, 1.5, 18, 19, 2 ** 53 - 1, 2 ** 53, 1e300, true, false, null, [], {}, [null], { a: 1 }],
];

interface Slot {
  readonly holder: { [key: string]: Json } | Json[];
  readonly key: string;
}

/** Every place in `value` that can be changed. */
const slotsOf = (value: Json): Slot[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) => [{ holder: value, key }, ...slotsOf(inner)]);

const change = (json: Json, at: number, to: Json | undefined): void => {
  const slots = slotsOf(json);
  const slot = slots[at % slots.length];
  if (slot === undefined) return;
  const { holder, key } = slot;
  if (to !== undefined) Object.assign(holder, { [key]: to });
  else if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else Reflect.deleteProperty(holder, key);
};

const extend = (json: Json, at: number, to: Json): void => {
  const objects = [json, ...slotsOf(json).map(({ holder, key }) => (holder as { [key: string]: Json })[key])].filter(
    (value): value is { [key: string]: Json } => typeof value === 'object' && value !== null && !Array.isArray(value),
  );
  const object = objects[at % objects.length];
  if (object !== undefined) object['added_later'] = to;
};

/** One to three changes of a body: a member replaced, removed or added, anywhere. */
export const mutations: fc.Arbitrary<(body: string) => string> = fc
  .array(
    fc.record({
      at: fc.nat(),
      to: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(...EDGES) },
        fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>,
      ),
      how: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'add'),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((changes) => (body: string) => {
    const json = JSON.parse(body) as Json;
    for (const { at, to, how } of changes) {
      const fresh = structuredClone(to);
      if (how === 'add') extend(json, at, fresh);
      else change(json, at, how === 'remove' ? undefined : fresh);
    }
    return JSON.stringify(json);
  });
