import { UNIT_PATTERN } from '../../../events/index.js';
import { Schema } from '../../../events/schema.js';

const SAFE = Number.MAX_SAFE_INTEGER;
/** Most units in one command: as many as accounts. */
const UNITS_MAX = 8;

/**
 * Decimal digits within 64 bits; which digits is the pattern's part, the range that of the format `amount`, which the
 * validator knows (validation.ts).
 */
const digits = (pattern: RegExp) =>
  Schema.String.pipe(Schema.pattern(pattern, { jsonSchema: { pattern: pattern.source, format: 'amount' } }));

const amountLike = (identifier: string, pattern: RegExp, least: number, description: string) =>
  Schema.Union(digits(pattern), Schema.Int.pipe(Schema.between(least, SAFE))).annotations({ identifier, description });

/** An amount as callers may give it; `BigInt` reads both forms. */
export type AmountGiven = string | number;

export const AmountIn = amountLike(
  'AmountIn',
  /^(?:0|[1-9][0-9]{0,18})$/,
  0,
  "A whole number of the unit's smallest part, 0 to 9223372036854775807, as a decimal string, or as a JSON number up to 9007199254740991 without fraction or exponent.",
);

export const PositiveAmountIn = amountLike(
  'PositiveAmountIn',
  /^[1-9][0-9]{0,18}$/,
  1,
  "A whole number of the unit's smallest part, 1 to 9223372036854775807, as a decimal string, or as a JSON number up to 9007199254740991 without fraction or exponent.",
);

export const SignedAmountIn = Schema.Union(
  digits(/^-?[1-9][0-9]{0,18}$/),
  Schema.Int.pipe(
    Schema.between(-SAFE, SAFE),
    Schema.filter((amount) => amount !== 0, { jsonSchema: { not: { const: 0 } } }),
  ),
).annotations({
  identifier: 'SignedAmountIn',
  description:
    "A whole number of the unit's smallest part, not 0, within ±9223372036854775807, as a decimal string, or as a JSON number within ±9007199254740991 without fraction or exponent.",
});

export const Unit = Schema.String.pipe(
  Schema.pattern(UNIT_PATTERN, { description: 'A unit: USD, TOK, … 1 to 16 of A-Z 0-9 _, a letter first.' }),
);

export const AmountsIn = Schema.Record({ key: Schema.String, value: AmountIn }).annotations({
  identifier: 'AmountsIn',
  jsonSchema: {
    type: 'object',
    description: 'One amount for each unit; every account of that unit bears it.',
    propertyNames: { pattern: UNIT_PATTERN.source },
    minProperties: 1,
    maxProperties: UNITS_MAX,
    additionalProperties: { $ref: '#/$defs/AmountIn' },
  },
});

/** An amount as it is answered. */
export const AmountOut = Schema.String.pipe(
  Schema.pattern(/^(?:0|-?[1-9][0-9]{0,18})$/, {
    description: "A whole number of the unit's smallest part, as a decimal string.",
  }),
);

export const AmountsOut = Schema.Record({ key: Schema.String, value: AmountOut }).annotations({
  identifier: 'Amounts',
  jsonSchema: {
    type: 'object',
    description: 'One amount for each unit, as decimal strings.',
    additionalProperties: { type: 'string', pattern: '^(?:0|-?[1-9][0-9]{0,18})$' },
  },
});

/** Where an event stands in its partition. */
export const Position = Schema.Int.pipe(Schema.between(0, SAFE)).annotations({
  description: "Where the event stands in the tenant's partition of the log: 1, 2, 3 …",
});

/** A moment: RFC 3339, in UTC when it is answered. */
export const Moment = Schema.String.pipe(
  Schema.filter((text) => !Number.isNaN(Date.parse(text)), {
    description: 'A time as in RFC 3339.',
    jsonSchema: { format: 'date-time' },
  }),
);
