import { ParseResult, Schema } from './schema.js';

/** The largest amount: 2^63 − 1 of a unit's smallest part. */
export const AMOUNT_MAX = 2n ** 63n - 1n;
/** The smallest amount: −2^63 of a unit's smallest part. */
export const AMOUNT_MIN = -(2n ** 63n);

/** Plain decimal digits, no leading zero, no plus, no minus zero: one text for one number, so texts can be compared. */
export const AMOUNT_PATTERN = /^(?:0|-?[1-9][0-9]{0,18})$/;

/** True when `value` fits in a signed 64-bit integer, which is what SQL and Redis hold. */
export const inRange = (value: bigint): boolean => value >= AMOUNT_MIN && value <= AMOUNT_MAX;

/**
 * Reads a decimal string as an amount in the unit's smallest part (micro-dollars for USD at scale 6).
 * Returns undefined for anything else: fractions, exponents, blanks, numbers outside 64 bits.
 */
export const parseAmount = (text: string): bigint | undefined => {
  if (!AMOUNT_PATTERN.test(text)) return undefined;
  const value = BigInt(text);
  return inRange(value) ? value : undefined;
};

/** An amount: bigint in the program, decimal string on every wire. */
export const Amount = Schema.transformOrFail(
  Schema.String.pipe(
    Schema.pattern(AMOUNT_PATTERN, {
      jsonSchema: { type: 'string', format: 'int64', pattern: AMOUNT_PATTERN.source },
      arbitrary: () => (fc) => fc.bigInt(AMOUNT_MIN, AMOUNT_MAX).map(String),
    }),
  ).annotations({
    identifier: 'Amount',
    description:
      "A whole number of the unit's smallest part (a millionth of a dollar for USD at scale 6), as decimal text within signed 64 bits",
  }),
  Schema.BigIntFromSelf,
  {
    strict: true,
    decode: (text, _options, ast) => {
      const value = parseAmount(text);
      return value === undefined
        ? ParseResult.fail(new ParseResult.Type(ast, text, 'an amount lies within 64 bits'))
        : ParseResult.succeed(value);
    },
    encode: (value, _options, ast) =>
      inRange(value)
        ? ParseResult.succeed(value.toString())
        : ParseResult.fail(new ParseResult.Type(ast, value, 'an amount lies within 64 bits')),
  },
).annotations({ title: 'Amount', arbitrary: () => (fc) => fc.bigInt(AMOUNT_MIN, AMOUNT_MAX) });
