import { parseAmount } from '../../events/index.js';
import { WrongUseError } from './exit.js';

/** Reads an amount in the unit's smallest part. Raises WrongUseError. */
export const amountOf = (text: string, what: string): bigint => {
  const amount = parseAmount(text);
  if (amount === undefined)
    throw new WrongUseError(`${what} must be a whole number of the unit's smallest part (like 650), not "${text}"`);
  return amount;
};

/** Reads a whole number that is not negative. Raises WrongUseError. */
export const countOf = (text: string, what: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new WrongUseError(`${what} must be a whole number, not "${text}"`);
  return Number(text);
};

/** Reads a partition's number, of `count`. Raises WrongUseError. */
export const partitionNumber = (text: string, count: number): number => {
  const partition = countOf(text, '--partition');
  if (partition >= count) throw new WrongUseError(`--partition must be below ${count.toString()}`);
  return partition;
};

/** Reads a time in RFC 3339; a bare date is its beginning in UTC. Returns ms since 1970. Raises WrongUseError. */
export const timeOf = (text: string, what: string): number => {
  const ms = Date.parse(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(ms))
    throw new WrongUseError(`${what} must be a time like 2026-01-31T12:00:00Z, not "${text}"`);
  return ms;
};

/** Reads `UNIT=AMOUNT`, repeated. Raises WrongUseError. */
export const unitAmountsOf = (texts: readonly string[], what: string): ReadonlyMap<string, bigint> => {
  const amounts = new Map<string, bigint>();
  for (const text of texts) {
    const [unit, amount, ...rest] = text.split('=');
    if (unit === undefined || unit === '' || amount === undefined || rest.length > 0)
      throw new WrongUseError(`${what} must be UNIT=AMOUNT (like USD=650), not "${text}"`);
    amounts.set(unit, amountOf(amount, what));
  }
  return amounts;
};
