import { describe, test } from 'vitest';
import { AMOUNT_MAX } from '../../../events/index.js';
import { WALLET, adjusted, finalized, opened, recharged, refunded, reserved } from './facts.js';
import { given, inTurn } from './given.js';
import { adjust, finalize, recharge, refund, reserve, sole } from './orders.js';

const overflowIn = (bucket: string, account = WALLET) => ({ code: 'amount_overflow', account, bucket }) as const;
const cold = { accounts: [WALLET] };

describe('a sum past 64 bits is refused and changes nothing', () => {
  test('available: the last unit that fits fits, the next does not', () => {
    given(opened(), recharged(AMOUNT_MAX - 1n))
      .when(recharge(1n, { id: 'paid-2' }))
      .leaves(WALLET, { available: AMOUNT_MAX });
    given(opened(), recharged(AMOUNT_MAX))
      .when(recharge(1n, { id: 'paid-2' }))
      .isRejected(overflowIn('available'));
  });

  test('funded, when an operator takes away', () => {
    given(opened(), adjusted(-AMOUNT_MAX))
      .when(adjust(-1n, { id: 'adjust-2' }))
      .isRejected(overflowIn('funded'));
  });

  test('a posting that is no 64-bit amount itself, although every sum would be one', () => {
    given(opened(), recharged(AMOUNT_MAX))
      .when(adjust(-AMOUNT_MAX - 1n))
      .isRejected(overflowIn('funded'));
  });

  test('available with the overdraft, which Redis keeps as one number', () => {
    given(opened({ overdraft_limit: 10n }), recharged(AMOUNT_MAX - 11n))
      .when(recharge(1n, { id: 'paid-2' }))
      .leaves(WALLET, { available: AMOUNT_MAX - 10n });
    given(opened({ overdraft_limit: 10n }), recharged(AMOUNT_MAX - 10n))
      .when(recharge(1n, { id: 'paid-2' }))
      .isRejected(overflowIn('available'));
  });

  test('held', () => {
    given(opened({ exempt: true }), reserved({ amount: AMOUNT_MAX }))
      .when(reserve({ id: 'r2', requested: sole(1n) }))
      .isRejected(overflowIn('held'));
    given(opened({ exempt: true }), reserved({ amount: AMOUNT_MAX - 1n }))
      .when(reserve({ id: 'r2', requested: sole(1n) }))
      .leaves(WALLET, { held: AMOUNT_MAX, available: -AMOUNT_MAX });
  });

  test('used', () => {
    const paid = [opened(), recharged(10n), finalized({ id: 'r0', amount: AMOUNT_MAX, cold: true })];
    given(...paid)
      .when(finalize(1n, cold))
      .isRejected(overflowIn('used'));
    given(...paid)
      .when(finalize(0n, cold))
      .leaves(WALLET, { used: AMOUNT_MAX });
  });

  test('funded', () => {
    const spent = finalized({ amount: AMOUNT_MAX, cold: true });
    given(opened(), recharged(AMOUNT_MAX), spent, recharged(1n, { id: 'paid-2' }))
      .when(recharge(1n, { id: 'paid-3' }))
      .isRejected(overflowIn('funded'));
  });

  test('a finalize above the hold, downward', () => {
    given(opened(), adjusted(-AMOUNT_MAX), reserved({ amount: 0n }))
      .when(finalize(2n))
      .isRejected(overflowIn('available'));
  });

  test('a reserve of an exempt account, downward', () => {
    given(opened({ exempt: true }), adjusted(-AMOUNT_MAX))
      .when(reserve({ requested: sole(2n) }))
      .isRejected(overflowIn('available'));
  });

  test('of one of several accounts: none is touched, the one is named', () => {
    const team = 'acme/team';
    given(opened({ exempt: true }), opened({ account: team, exempt: true }), reserved({ shares: [{ account: team, amount: AMOUNT_MAX }] })) // prettier-ignore
      .when(reserve({ id: 'r2', accounts: [WALLET, team], requested: sole(1n) }))
      .isRejected(overflowIn('held', team));
  });
});

describe('what is held can always go back', () => {
  const full = [opened(), recharged(AMOUNT_MAX), reserved({ amount: 1n })];

  test('so a recharge that would take the room for it is refused', () => {
    given(...full)
      .when(recharge(1n, { id: 'paid-2' }))
      .isRejected(overflowIn('available'));
  });

  test('and a refund, or a finalize of 0, to the last unit, is not', () => {
    given(...full)
      .when(refund())
      .makes(refunded({ amount: 1n }))
      .leaves(WALLET, { available: AMOUNT_MAX });
    given(...full)
      .when(finalize(0n))
      .leaves(WALLET, { available: AMOUNT_MAX });
  });

  test('also into an overdraft', () => {
    inTurn([opened({ overdraft_limit: AMOUNT_MAX })], reserve(), recharge(1n)).isRejected(overflowIn('available'));
    inTurn([opened({ overdraft_limit: AMOUNT_MAX })], reserve(), refund()).leaves(WALLET, { available: 0n, held: 0n });
  });
});
