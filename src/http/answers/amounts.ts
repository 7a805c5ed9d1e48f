import type { UnitAmount } from '../../../events/index.js';
import { NO_AMOUNTS } from '../../core/command.js';
import type { AmountsGiven } from '../../core/command.js';
import type { AmountGiven } from '../schemas/amount.js';

type AmountsText = Readonly<Record<string, string>>;

/** Amounts by unit as they are answered. */
export const amountsOf = (amounts: readonly UnitAmount[]): AmountsText =>
  Object.fromEntries(amounts.map(({ unit, amount }) => [unit, amount.toString()]));

/** Amounts by unit, or nothing when there are none. */
export const someAmounts = (amounts: readonly UnitAmount[] | undefined): AmountsText | undefined =>
  amounts === undefined || amounts.length === 0 ? undefined : amountsOf(amounts);

/** Reads `amounts` of a body that was checked. */
export const amountMap = (amounts: Readonly<Record<string, AmountGiven>>): ReadonlyMap<string, bigint> =>
  new Map(Object.entries(amounts).map(([unit, amount]) => [unit, BigInt(amount)]));

/** Reads `amount` or `amounts` of a body that was checked. */
export const amountsGiven = (body: {
  readonly amount?: AmountGiven | undefined;
  readonly amounts?: Readonly<Record<string, AmountGiven>> | undefined;
}): AmountsGiven => {
  if (body.amount !== undefined) return { kind: 'sole', amount: BigInt(body.amount) };
  if (body.amounts !== undefined) return { kind: 'by_unit', amounts: amountMap(body.amounts) };
  return NO_AMOUNTS;
};

/** The members that have a value: what is absent stays absent. */
export const given = <T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } => {
  const out: Partial<Record<string, unknown>> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) out[name] = value;
  return out as { [K in keyof T]?: Exclude<T[K], undefined> };
};
