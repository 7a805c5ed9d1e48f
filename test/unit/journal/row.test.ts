import { expect, test } from 'vitest';
import { Row } from '../../../src/journal/row.js';

const row = (...fields: (string | null)[]): Row => new Row(fields, 'some_statement');

test('arrays of texts as Postgres writes them: quoted where they must be, also a text that reads NULL', () => {
  const of = (text: string): string[] => row(text).texts(0);
  expect(of('{}')).toEqual([]);
  expect(of('{a,b/c}')).toEqual(['a', 'b/c']);
  expect(of('{"NULL","",a}')).toEqual(['NULL', '', 'a']);
  expect(of('{"a,b","{c}","d\\"e\\\\f"}')).toEqual(['a,b', '{c}', 'd"e\\f']);
  expect(() => of('{a,NULL}')).toThrow(/array of texts/);
  expect(() => of('{"a')).toThrow(/array of texts/);
});

test('a column that is not what it must be raises, naming statement and column', () => {
  expect(() => row(null).text(0)).toThrow('Column 0 of some_statement is not a value.');
  expect(() => row('1').text(1)).toThrow(/Column 1/);
  expect(() => row('1.5').bigint(0)).toThrow(/whole number/);
  expect(() => row('').bigint(0)).toThrow(/whole number/);
  expect(() => row('9007199254740993').int(0)).toThrow(/safe whole number/);
  expect(() => row('yes').bool(0)).toThrow(/boolean/);
  expect(() => row('ab').hex(0)).toThrow(/bytes/);
  expect(() => row('x').oneOf(0, ['a', 'b'])).toThrow(/one of a, b/);
  expect(() => row('{1,}').ints(0)).toThrow(/whole numbers/);
});

test('amounts are exact to 64 bits, and NULL is undefined only where it may be', () => {
  expect(row('9223372036854775807').bigint(0)).toBe(2n ** 63n - 1n);
  expect(row('-9223372036854775808').bigint(0)).toBe(-(2n ** 63n));
  expect([row(null).optionalBigint(0), row(null).optionalInt(0), row(null).optionalText(0)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(row('{1,22}').ints(0)).toEqual([1, 22]);
  expect(row('\\x00ff').hex(0)).toBe('00ff');
});
