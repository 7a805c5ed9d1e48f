/** Reads the parts of scripts' answers. Each raises RedisFault `script_failed` when something else stands there. */
import { RedisFault } from './errors.js';

const wrong = (what: string): RedisFault => new RedisFault('script_failed', `An answer of Redis holds no ${what}.`);

/** The text at a place. */
export const textAt = (rest: readonly unknown[], index: number): string => {
  const value = rest[index];
  if (typeof value === 'string') return value;
  throw wrong(`text at ${index.toString()}`);
};

/** The whole number at a place, written as a number or a text. */
export const numberAt = (rest: readonly unknown[], index: number): number => {
  const value = Number(rest[index] ?? Number.NaN);
  if (Number.isSafeInteger(value)) return value;
  throw wrong(`whole number at ${index.toString()}`);
};

/** The list at a place. */
export const listAt = (rest: readonly unknown[], index: number): readonly unknown[] => {
  const value = rest[index];
  if (Array.isArray(value)) return value as readonly unknown[];
  throw wrong(`list at ${index.toString()}`);
};

/** A text, or undefined where Redis has none. */
export const optionalAt = (rest: readonly unknown[], index: number): string | undefined =>
  rest[index] === null || rest[index] === undefined ? undefined : textAt(rest, index);

/** All that stands from a place on, which must be texts. */
export const textsFrom = (rest: readonly unknown[], index: number): string[] =>
  rest.slice(index).map((_, offset) => textAt(rest, index + offset));

/** Raised for a word that the script's header does not name. */
export const unknownWord = (script: string, word: string): RedisFault =>
  new RedisFault('script_failed', `Script ${script} answered "${word}".`);

/** `tenant/id`: a tenant's name holds no slash. */
export const readName = (name: string): { readonly tenant: string; readonly id: string } => {
  const slash = name.indexOf('/');
  return { tenant: name.slice(0, slash), id: name.slice(slash + 1) };
};

/** The name under which Redis knows a tenant's id: ids are unique in a tenant only. */
export const nameOf = (tenant: string, id: string): string => `${tenant}/${id}`;

/** What a speculation took, `account=unit=amount` joined by commas: lua/include/taken.lua. */
export const readTaken = (
  taken: string,
): { readonly account: string; readonly unit: string; readonly amount: bigint }[] =>
  taken.split(',').map((item) => {
    const [account, unit, amount] = item.split('=');
    if (account === undefined || unit === undefined || amount === undefined) throw wrong(`taken amounts in "${taken}"`);
    return { account, unit, amount: BigInt(amount) };
  });
