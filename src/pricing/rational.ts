/** A number that is exact. The denominator is a power of ten: prices are decimal, and nothing here divides. */
export interface Rational {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

export const ZERO: Rational = { numerator: 0n, denominator: 1n };

/** How a cost that falls between two amounts is rounded. None of them loses the half by accident. */
export const ROUNDINGS = ['half_up', 'half_even', 'up'] as const;
export type Rounding = (typeof ROUNDINGS)[number];

/** Longer texts and wider exponents are no prices: refusing them bounds the work. */
const TEXT_LENGTH_MAX = 64;
const EXPONENT_MAX = 60;

const DECIMAL_PATTERN = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,3}))?$/;

/**
 * Reads a number as JSON writes it (`0.0000025`, `2.5e-06`, `3`), not negative, exactly: no float comes near it.
 * Returns undefined for anything else.
 */
export const parseDecimal = (text: string): Rational | undefined => {
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  const match = DECIMAL_PATTERN.exec(text);
  if (match === null) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const power = Number(exponent) - fraction.length;
  if (Math.abs(power) > EXPONENT_MAX) return undefined;
  const digits = BigInt(whole + fraction);
  return power >= 0
    ? { numerator: digits * 10n ** BigInt(power), denominator: 1n }
    : { numerator: digits, denominator: 10n ** BigInt(-power) };
};

/** The sum, exactly. */
export const add = (a: Rational, b: Rational): Rational =>
  a.denominator === b.denominator
    ? { numerator: a.numerator + b.numerator, denominator: a.denominator }
    : {
        numerator: a.numerator * b.denominator + b.numerator * a.denominator,
        denominator: a.denominator * b.denominator,
      };

/** A multiple, exactly. */
export const times = (a: Rational, factor: bigint): Rational => ({
  numerator: a.numerator * factor,
  denominator: a.denominator,
});

/** A part; the divisor must be a power of ten. */
export const dividedBy = (a: Rational, divisor: bigint): Rational => ({
  numerator: a.numerator,
  denominator: a.denominator * divisor,
});

/** The larger of the two. */
export const larger = (a: Rational, b: Rational): Rational =>
  a.numerator * b.denominator >= b.numerator * a.denominator ? a : b;

/** The whole number next to a (not negative), by the mode named. The only place where exactness ends. */
export const round = ({ numerator, denominator }: Rational, rounding: Rounding): bigint => {
  const floor = numerator / denominator;
  const rest = numerator % denominator;
  if (rest === 0n) return floor;
  switch (rounding) {
    case 'up':
      return floor + 1n;
    case 'half_up':
      return rest * 2n >= denominator ? floor + 1n : floor;
    case 'half_even': {
      const twice = rest * 2n;
      if (twice === denominator) return floor + (floor % 2n);
      return twice > denominator ? floor + 1n : floor;
    }
  }
};
