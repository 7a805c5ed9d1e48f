/** Enough for any run, in micro-units. */
export const BALANCE = 10n ** 15n;
/** What a request holds, and what it then costs. */
export const HOLD = 5_000n;
export const COST = 1_234n;

/** Whose money the operations take: one of many customers in turn, or always the same one. */
export interface Customers {
  readonly name: string;
  readonly all: readonly string[];
  next(): string;
}

export const manyCustomers = (count: number): Customers => {
  const all = Array.from({ length: count }, (_unused, i) => `c${i}`);
  let turn = 0;
  return { name: `${count.toLocaleString('en-US')} accounts`, all, next: () => all[turn++ % count] ?? '' };
};

export const oneCustomer = (): Customers => ({ name: 'one hot account', all: ['hot'], next: () => 'hot' });
