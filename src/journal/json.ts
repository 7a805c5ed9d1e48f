import { parseAmount } from '../../events/index.js';
import type { Metadata, UnitAmount } from '../../events/index.js';

/*
 * JSON in text columns. Not json or jsonb: those refuse what a caller's JSON may hold (U+0000, half a surrogate pair).
 */

export type JsonObject = Readonly<Record<string, unknown>>;

/** A JSON object from a column. Raises an Error when it is something else. */
export const decodeObject = (text: string): JsonObject => {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('A column that holds a JSON object holds something else.');
  return value as JsonObject;
};

/** Metadata from its column. Raises an Error when it is no JSON object. */
export const decodeMetadata = (text: string): Metadata => decodeObject(text);
/** Metadata for its column; undefined stays undefined, which is NULL there. */
export const encodeMetadata = (metadata: Metadata | undefined): string | undefined =>
  metadata === undefined ? undefined : JSON.stringify(metadata);

/** Amounts for a JSON column: decimal strings. */
export const encodeAmounts = (amounts: readonly UnitAmount[]): readonly { unit: string; amount: string }[] =>
  amounts.map(({ unit, amount }) => ({ unit, amount: amount.toString() }));

const decodeAmount = (item: unknown): UnitAmount => {
  if (typeof item === 'object' && item !== null && 'unit' in item && 'amount' in item) {
    const amount = typeof item.amount === 'string' ? parseAmount(item.amount) : undefined;
    if (typeof item.unit === 'string' && amount !== undefined) return { unit: item.unit, amount };
  }
  throw new Error('A stored amount is not a unit with a whole number.');
};

/** Amounts from a JSON column. Raises an Error when they are not a list of units with whole 64-bit numbers. */
export const decodeAmounts = (value: unknown): UnitAmount[] => {
  if (!Array.isArray(value)) throw new Error('Stored amounts are not a list.');
  return value.map(decodeAmount);
};
