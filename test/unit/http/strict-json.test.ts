import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RefusedJsonError, readJson } from '../../../src/http/strict-json.js';

const refusal = (text: string): RefusedJsonError => {
  try {
    readJson(text);
  } catch (error) {
    if (error instanceof RefusedJsonError) return error;
    throw error;
  }
  throw new Error(`It was accepted: ${text}`);
};

/** JSON as the interface takes it: whole numbers within 2^53 − 1, texts that are text, no name that JSON.parse treats as another. */
const text = fc.string({ unit: 'grapheme' }).filter((s) => !s.includes('\0'));
const plainJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger().map((n) => n + 0),
    text,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(
      text.filter((s) => s !== '__proto__'),
      tie('value'),
      { maxKeys: 5 },
    ),
  ),
})).value;

describe('what is JSON', () => {
  test('is read as JSON.parse reads it, compact or spread out', () => {
    fc.assert(
      fc.property(plainJson, fc.constantFrom(0, 2), (value, indent) => {
        const written = JSON.stringify(value, null, indent);
        expect(readJson(written)).toEqual(JSON.parse(written));
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['escapes', '{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"}'],
    ['a text that ends in backslashes', '["\\\\","\\\\\\\\"]'],
    ['the largest safe integers', '[9007199254740991,-9007199254740991,0]'],
    ['names that mean something elsewhere', '{"constructor":{"prototype":1},"toString":2}'],
  ])('%s', (_what, written) => {
    expect(readJson(written)).toEqual(JSON.parse(written));
  });

  test('what JSON.parse refuses is refused', () => {
    const bits = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '1',
      '-',
      '.',
      'e',
      'true',
      'nul',
      ' ',
      '\\',
      '\n',
      'NaN',
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 8 }), (parts) => {
        const written = parts.join('');
        let valid = true;
        try {
          JSON.parse(written);
        } catch {
          valid = false;
        }
        if (!valid) expect(() => readJson(written)).toThrow(RefusedJsonError);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('numbers that are no plain whole number are refused by the name of their field', () => {
  test.each([
    '1e3',
    '1E3',
    '1.0',
    '0.5',
    '-0',
    '1e309',
    '9007199254740992',
    '-9007199254740992',
    '9223372036854775808',
  ])('%s', (number) => {
    expect(refusal(`{"id":"x","amount":${number}}`)).toMatchObject({ kind: 'content', field: 'amount' });
    expect(refusal(`{"commands":[{"op":"x"},{"amounts":{"USD":${number}}}]}`)).toMatchObject({
      kind: 'content',
      field: 'commands[1].amounts.USD',
    });
  });

  test.each(['NaN', 'Infinity', '-Infinity', '+1', '01', '.5', '1.', '0x10', '1_000'])('%s is no JSON', (number) => {
    expect(refusal(`{"amount":${number}}`)).toMatchObject({ kind: 'syntax', field: 'amount' });
  });
});

describe('metadata is the caller’s own', () => {
  test('fractions and exponents are accepted there, in a body and in a batch’s commands', () => {
    expect(readJson('{"metadata":{"temperature":0.7,"deep":[{"a":1e3}]}}')).toEqual({
      metadata: { temperature: 0.7, deep: [{ a: 1000 }] },
    });
    expect(readJson('{"commands":[{"metadata":{"t":0.7}}]}')).toEqual({ commands: [{ metadata: { t: 0.7 } }] });
  });

  test.each(['1e309', '-1e309', '9007199254740993'])(
    '%s is refused: it could not be given back as it came',
    (number) => {
      expect(refusal(`{"metadata":{"n":${number}}}`)).toMatchObject({ kind: 'content', field: 'metadata.n' });
    },
  );

  test('a member called metadata elsewhere is not', () => {
    expect(refusal('{"usage":{"metadata":0.5}}')).toMatchObject({ field: 'usage.metadata' });
  });
});

describe('what could be read in two ways is refused', () => {
  test.each([
    ['a name given twice', '{"amount":1,"amount":2}', 'amount'],
    ['a name given twice, once escaped', '{"amount":1,"\\u0061mount":2}', 'amount'],
    ['__proto__', '{"__proto__":{"exempt":true}}', '__proto__'],
    ['__proto__, escaped and deep', '{"metadata":{"a":{"\\u005f_proto__":1}}}', 'metadata.a.__proto__'],
    ['U+0000', '{"reason":"a\\u0000b"}', 'reason'],
    ['half a surrogate pair', '{"reason":"\\ud83d"}', 'reason'],
  ])('%s', (_what, written, field) => {
    expect(refusal(written)).toMatchObject({ kind: 'content', field });
    expect(Object.prototype).not.toHaveProperty('exempt');
  });

  test('nesting without end', () => {
    expect(refusal(`{"metadata":${'['.repeat(100_000)}`)).toMatchObject({ kind: 'content' });
  });
});
