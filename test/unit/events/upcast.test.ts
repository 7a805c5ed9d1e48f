import { describe, expect, test } from 'vitest';
import { UPCASTS, readType } from '../../../events/index.js';
import type { Upcast } from '../../../events/index.js';

/**
 * How an event gets a second version: say that `Recharged` had said its amount in whole cents, and now says it in
 * micro-dollars. Version 1 stays in the log as it was written; readers lift it.
 */
const centsToMicros: Upcast = ({ cents, ...rest }) => ({
  ...rest,
  amount: (BigInt(cents as string) * 10_000n).toString(),
});
const withReference: Upcast = (data) => ({ reference: 'none', ...data });

describe('an event of an earlier version', () => {
  const steps = { Recharged: [centsToMicros, withReference] };
  const read = (type: string, data: Readonly<Record<string, unknown>>) => readType(type, data, steps, { Recharged: 3 });

  test('is lifted through every version since', () => {
    expect(read('com.holdfast.recharged.v1', { recharge_id: 'r1', cents: '250' })).toEqual({
      known: true,
      name: 'Recharged',
      data: { recharge_id: 'r1', amount: '2500000', reference: 'none' },
    });
  });

  test('is lifted only from its own version on', () => {
    expect(read('com.holdfast.recharged.v2', { amount: '7' })).toMatchObject({
      data: { amount: '7', reference: 'none' },
    });
    expect(read('com.holdfast.recharged.v3', { amount: '7' })).toMatchObject({ data: { amount: '7' } });
  });

  test('is a mistake of this program when no step leads up from it', () => {
    expect(() => readType('com.holdfast.recharged.v1', {}, { Recharged: [centsToMicros] }, { Recharged: 3 })).toThrow(
      'Recharged is at version 3 and has no upcast from version 1.',
    );
  });
});

describe('an event that this program does not know', () => {
  test.each([
    ...['com.holdfast.recharged.v2', 'com.holdfast.gifted.v1', 'com.holdfast.recharged', 'recharged.v1', ''],
    ...[
      'com.holdfast.recharged.v0',
      'com.holdfast.recharged.v01',
      'com.holdfast.recharged.v1e0',
      'com.holdfast.recharged.v',
    ],
    ...['com.holdfast.recharged.v1.v1', 'com.holdfast.Recharged.v1', 'org.holdfast.recharged.v1'],
  ])('%j is named, not guessed at', (type) => {
    expect(readType(type, {})).toEqual({ known: false, type });
  });
});

test('every event is at its first version today, so no upcast is in use', () => {
  expect(UPCASTS).toEqual({});
});
