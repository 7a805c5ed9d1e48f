import { describe, expect, test } from 'vitest';
import type { Command } from '../../../src/core/command.js';
import type { RejectionCode } from '../../../src/core/rejection.js';
import { WALLET, finalized, maxCostSet, opened, recharged, refunded, reserved } from './facts.js';
import { given } from './given.js';
import type { Fact } from './facts.js';
import { byUnit, extend, finalize, none, open, recharge, refund, reserve, sole } from './orders.js';

const MAX = 2n ** 63n - 1n;
const quota = 'acme/tokens';
const wallet = [opened(), recharged(100n)];
const two = [...wallet, opened({ account: quota, unit: 'TOK' })];
const cold = finalized({ amount: 40n, cold: true });
const closed = [...wallet, reserved(), finalized({ closing: 60n, amount: 40n })];

interface Case {
  readonly story: readonly Fact[];
  readonly command: Command;
}
const when = (story: readonly Fact[], command: Command): Case => ({ story, command });

/** For each code, the plainest case. The type asks for one for each: a new code without a test does not compile. */
const PLAIN: Readonly<Record<RejectionCode, Case>> = {
  account_differs: when(wallet, open({ unit: 'TOK' })),
  reservation_closed: when([...wallet, cold], reserve()),
  id_reused: when([...wallet, reserved()], reserve({ requested: sole(1n) })),
  reservation_finalized: when(closed, refund()),
  reservation_refunded: when([...wallet, reserved(), refunded()], extend(900)),
  reservation_not_found: when(wallet, refund()),
  account_not_found: when([], reserve()),
  unit_mismatch: when(two, reserve({ accounts: [WALLET, quota] })),
  unit_unknown: when(wallet, reserve({ requested: byUnit({ USD: 1n, EUR: 1n }) })),
  amount_missing: when(wallet, reserve({ requested: none })),
  max_cost_unknown: when(wallet, reserve({ model: 'gpt', requested: none })),
  insufficient_quota: when(wallet, reserve({ requested: sole(101n) })),
  amount_overflow: when(wallet, recharge(MAX, { id: 'paid-2' })),
};

const codeOf = ({ story, command }: Case): string => {
  const { decision } = given(...story).when(command);
  return decision.outcome === 'rejected' ? decision.rejection.code : 'done';
};

test.each(Object.entries(PLAIN))('%s is given where it applies alone', (code, plain) => {
  expect(codeOf(plain)).toBe(code);
});

/** Where several apply, the earlier of the list is given: [what is given, what else applies, the case]. */
const PAIRS: readonly (readonly [RejectionCode, string, Case])[] = [
  ['reservation_closed', 'other contents', when([...wallet, cold], reserve({ accounts: ['acme/none'], ttlSeconds: 1 }))],
  ['reservation_closed', 'an account that is not there', when([...wallet, cold], reserve({ accounts: ['acme/none'] }))],
  ['id_reused', 'an account that is not there', when([...wallet, reserved()], reserve({ accounts: ['acme/none'] }))],
  ['id_reused', 'too little', when([...wallet, reserved()], reserve({ requested: sole(MAX) }))],
  ['id_reused', 'an unknown unit', when([...wallet, reserved()], reserve({ requested: byUnit({ EUR: 1n }) }))],
  ['id_reused', 'a refund', when([...wallet, reserved({ model: 'a' }), refunded({ model: 'a' })], finalize(1n, { model: 'b' }))],
  ['id_reused', 'an account that is not there', when([...wallet], recharge(100n, { account: 'acme/none' }))],
  ['id_reused', 'an overflow', when(wallet, recharge(MAX))],
  ['id_reused', 'an unknown unit', when(closed, finalize(byUnit({ EUR: 1n })))],
  ['id_reused', 'a missing amount', when(closed, finalize(none))],
  ['reservation_refunded', 'a missing amount', when([...wallet, reserved(), refunded()], finalize(none))],
  ['reservation_refunded', 'an overflow', when([...wallet, reserved(), refunded()], finalize(MAX))],
  ['reservation_not_found', 'a missing amount', when(wallet, finalize(none))],
  ['account_not_found', 'a missing amount', when(wallet, reserve({ accounts: [WALLET, 'acme/none'], requested: none }))],
  ['account_not_found', 'too little', when(wallet, reserve({ accounts: [WALLET, 'acme/none'], requested: sole(MAX) }))],
  ['account_not_found', 'an overflow', when([], recharge(MAX))],
  ['account_not_found', 'a unit mismatch', when(two, finalize(1n, { id: 'c', accounts: [WALLET, quota, 'acme/none'] }))],
  ['unit_mismatch', 'too little', when(two, reserve({ accounts: [WALLET, quota], requested: sole(MAX) }))],
  ['unit_unknown', 'a missing amount', when(wallet, reserve({ requested: byUnit({ EUR: 1n }) }))],
  ['unit_unknown', 'too little', when(wallet, reserve({ requested: byUnit({ USD: MAX, EUR: 1n }) }))],
  ['unit_unknown', 'a missing amount', when(wallet, finalize(byUnit({ EUR: 1n }), { accounts: [WALLET] }))],
  ['amount_missing', 'too little', when(two, reserve({ accounts: [WALLET, quota], requested: byUnit({ USD: MAX }) }))],
  ['max_cost_unknown', 'too little', when([...two, maxCostSet({ amount: MAX })], reserve({ accounts: [WALLET, quota], model: 'gpt', requested: none }))],
  ['insufficient_quota', 'an overflow', when([opened(), opened({ account: quota, exempt: true }), reserved({ id: 'r0', shares: [{ account: quota, amount: MAX }] })], reserve({ accounts: [quota, WALLET], requested: sole(1n) }))],
]; // prettier-ignore

describe('of several that apply the first of the list is given', () => {
  test.each(PAIRS)('%s before %s', (code, _other, pair) => {
    expect(codeOf(pair)).toBe(code);
  });

  test('and of several accounts the first in the caller’s order', () => {
    const team = 'acme/team';
    const story = given(opened(), opened({ account: team }));
    for (const accounts of [
      [WALLET, team],
      [team, WALLET],
    ])
      story.when(reserve({ accounts })).isRejected({
        code: 'insufficient_quota',
        account: accounts[0] ?? '',
        unit: 'USD',
        available: 0n,
        required: 60n,
      });
  });
});
