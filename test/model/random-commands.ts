/** Random commands over a small world, so that ids meet again and balances run dry and over. */
import fc from 'fast-check';
import { AMOUNT_MAX, AMOUNT_MIN, HOLD_POLICIES, SYSTEM_TENANT } from '../../events/index.js';
import type { AmountsGiven, Command, OpenAccount, Reserve } from '../../src/core/command.js';
import { NO_AMOUNTS } from '../../src/core/command.js';

export const TENANT = 'acme';
const UNITS: Readonly<Record<string, string>> = {
  acme: 'USD',
  'acme/team': 'USD',
  'acme/quota': 'TOK',
  'acme/free': 'USD',
  'acme/late': 'TOK',
};
const ACCOUNTS = Object.keys(UNITS);
/** The account that no world opens at its start: a command may. */
const LATE_ACCOUNT = 'acme/late';
const MODELS = ['m-small', 'm-large'];

/** Amounts of 0 and more: mostly small, so that sums come out near; some up to the largest there is. */
export const amounts: fc.Arbitrary<bigint> = fc.oneof(
  { weight: 12, arbitrary: fc.bigInt(0n, 120n) },
  { weight: 1, arbitrary: fc.bigInt(0n, AMOUNT_MAX) },
  { weight: 1, arbitrary: fc.bigInt(AMOUNT_MAX - 200n, AMOUNT_MAX) },
);

const signedAmounts = fc
  .tuple(amounts, fc.boolean())
  .map(([amount, negative]) => (negative ? -amount : amount))
  .filter((amount) => amount !== 0n && amount > AMOUNT_MIN);

const OPENED = ACCOUNTS.filter((account) => account !== LATE_ACCOUNT);
const some = (from: string[]): fc.Arbitrary<string[]> =>
  fc.integer({ min: 1, max: 3 }).chain((n) => fc.shuffledSubarray(from, { minLength: n, maxLength: n }));
const names = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('acme', 'acme/quota').map((account) => [account]) },
  { weight: 12, arbitrary: some(OPENED) },
  { weight: 1, arbitrary: some(ACCOUNTS) },
);
const ids = fc.integer({ min: 1, max: 12 }).map((n) => `r${n.toString()}`);
const models = fc.option(fc.constantFrom(...MODELS), { nil: undefined, freq: 3 });

const unitAmounts = (units: string[]): fc.Arbitrary<AmountsGiven> =>
  fc.tuple(...units.map((unit) => fc.tuple(fc.constant(unit), amounts))).map((pairs) => ({
    kind: 'by_unit',
    amounts: new Map(pairs),
  }));

/** Mostly amounts that fit the accounts' units; else one too few, one that is foreign, or none. */
const givenFor = (accounts: readonly string[]): fc.Arbitrary<AmountsGiven> => {
  const units = [...new Set(accounts.map((account) => UNITS[account] ?? 'USD'))];
  const sole = amounts.map((amount): AmountsGiven => ({ kind: 'sole', amount }));
  return fc.oneof(
    { weight: units.length === 1 ? 6 : 1, arbitrary: sole },
    { weight: 12, arbitrary: unitAmounts(units) },
    { weight: 2, arbitrary: fc.subarray(units).chain(unitAmounts) },
    { weight: 1, arbitrary: fc.constant(NO_AMOUNTS) },
    { weight: 1, arbitrary: unitAmounts(['EUR']) },
  );
};

const withModel = <T extends object>(command: T, model: string | undefined): T & { model?: string } =>
  model === undefined ? command : { ...command, model };

export const reserves: fc.Arbitrary<Reserve> = names.chain((accounts) =>
  fc
    .tuple(
      ids,
      givenFor(accounts),
      models,
      fc.constantFrom(...HOLD_POLICIES),
      fc.constantFrom(60, 600),
      fc.integer({ max: 9, min: 0 }),
    )
    .map(([id, requested, model, policy, ttlSeconds, more]) => ({
      ...withModel({ kind: 'reserve' as const, tenant: TENANT, id, accounts, requested, policy, ttlSeconds }, model),
      level: 'durable' as const,
      ...(more === 0 ? { metadata: { trace: id } } : {}),
    })),
);

const finalizes: fc.Arbitrary<Command> = names.chain((accounts) =>
  fc.tuple(ids, givenFor(accounts), models, fc.boolean()).map(([id, cost, model, cold]): Command => ({
    ...withModel({ kind: 'finalize' as const, tenant: TENANT, id, cost }, cold ? model : undefined),
    ...(cold ? { accounts } : {}),
  })),
);

const fundings: fc.Arbitrary<Command> = fc
  .tuple(fc.constantFrom(...ACCOUNTS), fc.uuid(), amounts, signedAmounts, fc.boolean())
  .map(([account, id, amount, signed, up]): Command =>
    up
      ? { kind: 'recharge', tenant: TENANT, account, id, amount: amount + (amount === 0n ? 1n : 0n) }
      : { kind: 'adjust', tenant: TENANT, account, id, amount: signed, reason: 'checked' },
  );

const maxCosts: fc.Arbitrary<Command> = fc
  .tuple(fc.constantFrom(...MODELS), fc.constantFrom('USD', 'TOK'), amounts)
  .map(([model, unit, amount]) => ({
    kind: 'set_max_cost',
    tenant: SYSTEM_TENANT,
    model,
    amounts: new Map([[unit, amount]]),
  }));

const byId = (of: (id: string) => Command): fc.Arbitrary<Command> => ids.map(of);

const opening = (account: string, overdraftLimit = 0n, exempt = false): OpenAccount => ({
  kind: 'open_account',
  tenant: TENANT,
  account,
  unit: UNITS[account] ?? 'USD',
  scale: 6,
  overdraftLimit,
  exempt,
});

/** Any command but a reserve. */
export const otherCommands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 8, arbitrary: finalizes },
  { weight: 4, arbitrary: byId((id) => ({ kind: 'refund', tenant: TENANT, id, reason: 'failed' })) },
  { weight: 2, arbitrary: byId((id) => ({ kind: 'expire', tenant: TENANT, id })) },
  { weight: 2, arbitrary: byId((id) => ({ kind: 'extend', tenant: TENANT, id, ttlSeconds: 3600 })) },
  { weight: 5, arbitrary: fundings },
  { weight: 2, arbitrary: maxCosts },
  { weight: 1, arbitrary: fc.constant<Command>(opening(LATE_ACCOUNT)) },
);

/** What every world begins with: a wallet, a team's budget with overdraft, a quota in tokens, an exempt account, a known model. */
export const WORLD: readonly Command[] = [
  opening('acme'),
  opening('acme/team', 50n),
  opening('acme/quota'),
  opening('acme/free', 0n, true),
  { kind: 'recharge', tenant: TENANT, account: 'acme', id: 'first', amount: 300n },
  { kind: 'recharge', tenant: TENANT, account: 'acme/team', id: 'second', amount: 100n },
  { kind: 'recharge', tenant: TENANT, account: 'acme/quota', id: 'third', amount: 400n },
  {
    kind: 'set_max_cost',
    tenant: SYSTEM_TENANT,
    model: 'm-small',
    amounts: new Map(Object.entries({ USD: 20n, TOK: 60n })),
  },
];
