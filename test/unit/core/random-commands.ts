/** Random commands over few accounts and ids, so that they meet: holds closed twice, ids reused, balances run dry, sums at 2^63 − 1. */
import fc from 'fast-check';
import { AMOUNT_MAX, HOLD_POLICIES } from '../../../events/index.js';
import type { AmountsGiven, Command } from '../../../src/core/command.js';
import { opened } from './facts.js';
import { adjust, expire, extend, finalize, open, recharge, refund, reserve, setMaxCost } from './orders.js';

/** One account of each kind: plain, with an overdraft, in another unit, exempt. */
export const ACCOUNTS = [
  opened(),
  opened({ account: 'acme/team', overdraft_limit: 50n }),
  opened({ account: 'acme/tokens', unit: 'TOK', scale: 0 }),
  opened({ account: 'acme/staff', exempt: true }),
];
const NAMES = ['acme', 'acme/team', 'acme/tokens', 'acme/staff', 'acme/none'];

/** A command and how long after the one before it comes. */
export interface Step {
  readonly command: Command;
  readonly waitMs: number;
}

const small = fc.bigInt(0n, 200n);
const amount = fc.oneof(
  { weight: 8, arbitrary: small },
  { weight: 1, arbitrary: fc.bigInt(0n, AMOUNT_MAX) },
  { weight: 1, arbitrary: small.map((n) => AMOUNT_MAX - n) },
);
const positive = amount.map((n) => n + (n === 0n ? 1n : 0n));
const signed = fc.tuple(positive, fc.boolean()).map(([n, negative]) => (negative ? -n : n));

const given: fc.Arbitrary<AmountsGiven> = fc.oneof(
  amount.map((n): AmountsGiven => ({ kind: 'sole', amount: n })),
  fc
    .dictionary(fc.constantFrom('USD', 'TOK'), amount, { minKeys: 1, noNullPrototype: true })
    .map((amounts): AmountsGiven => ({ kind: 'by_unit', amounts: new Map(Object.entries(amounts)) })),
  fc.constant<AmountsGiven>({ kind: 'none' }),
);

const id = fc.constantFrom('r1', 'r2', 'r3', 'r4', 'r5');
const model = fc.option(fc.constantFrom('gpt', 'tiny'), { nil: undefined });
const accounts = fc.oneof(
  { weight: 3, arbitrary: fc.constant(['acme']) },
  { weight: 2, arbitrary: fc.uniqueArray(fc.constantFrom(...NAMES.slice(0, 4)), { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant(['acme', 'acme/none']) },
);
const withModel = (name: string | undefined) => (name === undefined ? {} : { model: name });
const ttl = fc.constantFrom(1, 60, 600, 900);

const reserves = fc
  .record({ id, accounts, model, requested: given, policy: fc.constantFrom(...HOLD_POLICIES), ttlSeconds: ttl })
  .map(({ model: of, ...rest }) => reserve({ ...rest, ...withModel(of) }));

const finalizes = fc
  .tuple(id, given, model, fc.option(accounts, { nil: undefined }))
  .map(([of, cost, m, at]) =>
    finalize(cost, { id: of, ...withModel(m), ...(at === undefined ? {} : { accounts: at }) }),
  );

const funds = fc
  .record({
    id: fc.constantFrom('f1', 'f2', 'f3', 'f4', 'f5', 'f6'),
    account: fc.constantFrom(...NAMES),
    x: signed,
    reference: fc.option(fc.constantFrom('i1', 'i2'), { nil: undefined }),
  })
  .map(({ id: of, account, x, reference }) =>
    x < 0n
      ? adjust(x, { id: of, account })
      : recharge(x, { id: of, account, ...(reference === undefined ? {} : { reference }) }),
  );

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: reserves },
  { weight: 6, arbitrary: finalizes },
  { weight: 2, arbitrary: id.map((of) => refund({ id: of })) },
  { weight: 2, arbitrary: id.map(expire) },
  { weight: 2, arbitrary: fc.tuple(ttl, id).map(([seconds, of]) => extend(seconds, of)) },
  { weight: 4, arbitrary: funds },
  {
    weight: 1,
    arbitrary: fc.tuple(small, fc.constantFrom('gpt', 'tiny')).map(([n, of]) => setMaxCost({ USD: n }, of)),
  },
  { weight: 1, arbitrary: fc.constantFrom(...NAMES).map((account) => open({ account })) },
);

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({ command, waitMs: fc.constantFrom(0, 0, 1000, 60_000, 700_000) }),
  { maxLength: 60, size: 'max' },
);
