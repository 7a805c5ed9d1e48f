import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AMOUNT_MAX, AMOUNT_MIN, parseAmount } from '../../../events/index.js';

describe('an amount', () => {
  test('reads back from its text, for every 64-bit number', () => {
    fc.assert(fc.property(fc.bigInt(AMOUNT_MIN, AMOUNT_MAX), (value) => parseAmount(value.toString()) === value));
  });

  test.each(['9223372036854775807', '-9223372036854775808', '9007199254740993', '0'])('%s is exact', (text) => {
    expect(parseAmount(text)?.toString()).toBe(text);
  });

  test.each([
    ...[
      '',
      ' 5',
      '5 ',
      '5\n',
      '+5',
      '05',
      '-0',
      '--5',
      '1.0',
      '0.5',
      '1e3',
      '1e309',
      'NaN',
      'Infinity',
      '0x10',
      '1_000',
    ],
    ...['9223372036854775808', '-9223372036854775809', '99999999999999999999999', '٥', '５'],
  ])('%j is none', (text) => {
    expect(parseAmount(text)).toBeUndefined();
  });
});
