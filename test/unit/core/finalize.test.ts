import { describe, expect, test } from 'vitest';
import { WALLET, after, finalized, opened, recharged, refunded, reserved } from './facts.js';
import { given, inTurn } from './given.js';
import { byUnit, finalize, none, refund, reserve } from './orders.js';

const team = 'acme/team';
const quota = 'acme/tokens';
const held = [opened(), recharged(100n), reserved()];

describe('a finalize', () => {
  test('charges the cost and gives the rest of the hold back', () => {
    given(...held)
      .when(finalize(40n))
      .makes(finalized({ closing: 60n, amount: 40n }))
      .leaves(WALLET, { available: 60n, held: 0n, used: 40n, funded: -100n })
      .answers({ reservation: { state: 'finalized', cost: [{ unit: 'USD', amount: 40n }], late: false } });
  });

  test('of exactly the hold gives nothing back', () => {
    given(...held)
      .when(finalize(60n))
      .leaves(WALLET, { available: 40n, held: 0n, used: 60n });
  });

  test('of 0 gives all of it back', () => {
    given(...held)
      .when(finalize(0n))
      .leaves(WALLET, { available: 100n, held: 0n, used: 0n });
  });

  test('may cost more than was held: all of it is charged', () => {
    given(...held)
      .when(finalize(70n))
      .makes(finalized({ closing: 60n, amount: 70n }))
      .leaves(WALLET, { available: 30n, held: 0n, used: 70n });
  });

  test('may take the balance below zero', () => {
    given(...held)
      .when(finalize(130n))
      .leaves(WALLET, { available: -30n, held: 0n, used: 130n });
  });

  test('keeps the usage, and the reservation’s metadata unless it brings its own', () => {
    const usage = { prompt: 1000, completion: 20 };
    const told = inTurn(held.slice(0, 2), reserve({ metadata: { user: 'u1' } }), finalize(40n, { usage }));
    expect(told.events[0]?.event.data).toMatchObject({ usage, metadata: { user: 'u1' } });
    const own = inTurn(
      held.slice(0, 2),
      reserve({ metadata: { user: 'u1' } }),
      finalize(40n, { metadata: { end: 1 } }),
    );
    expect(own.events[0]?.event.data).toMatchObject({ metadata: { end: 1 } });
  });

  test('charges every account of the reservation, each in its unit', () => {
    const shares = [
      { account: WALLET, amount: 60n },
      { account: quota, unit: 'TOK', amount: 60n },
    ];
    given(opened(), opened({ account: quota, unit: 'TOK' }), reserved({ shares }))
      .when(finalize(byUnit({ USD: 40n, TOK: 50n })))
      .leaves(WALLET, { available: -40n, held: 0n, used: 40n })
      .leaves(quota, { available: -50n, held: 0n, used: 50n });
  });

  test('may name the accounts and the model of the reservation', () => {
    given(opened(), recharged(100n), reserved({ model: 'gpt', amount: 60n }))
      .when(finalize(40n, { accounts: [WALLET], model: 'gpt' }))
      .answers({ reservation: { state: 'finalized' } });
  });

  test('right after its reserve, in the same group, finds it', () => {
    inTurn(held.slice(0, 2), reserve(), finalize(40n)).makes(finalized({ closing: 60n, amount: 40n }));
  });
});

describe('the same finalize again', () => {
  const closed = [...held, finalized({ closing: 60n, amount: 40n })];

  test('is a replay at the first one’s position, and charges nothing more', () => {
    given(...closed)
      .when(finalize(40n))
      .replays(4)
      .answers({ reservation: { state: 'finalized', cost: [{ unit: 'USD', amount: 40n }] } })
      .leaves(WALLET, { used: 40n });
  });

  test('may say its amount by unit', () => {
    given(...closed)
      .when(finalize(byUnit({ USD: 40n })))
      .replays(4);
  });

  test('with another amount is refused, naming the first one', () => {
    given(...closed)
      .when(finalize(41n))
      .isRejected({ code: 'id_reused', id: 'r1', field: 'amount', recorded: '40 USD' });
    given(...closed)
      .when(finalize(byUnit({ USD: 41n })))
      .isRejected({ code: 'id_reused', id: 'r1', field: 'amounts', recorded: '40 USD' });
  });

  test('with amounts in other units is refused as another amount', () => {
    given(...closed)
      .when(finalize(byUnit({ TOK: 40n })))
      .isRejected({ code: 'id_reused', id: 'r1', field: 'amounts', recorded: '40 USD' });
  });
});

describe('a finalize under a reservation’s id', () => {
  test('after a refund is refused with the refund’s reason', () => {
    given(...held, refunded({ reason: 'cancelled' }))
      .when(finalize(40n))
      .isRejected({ code: 'reservation_refunded', id: 'r1', reason: 'cancelled' });
  });

  test.each([
    ['other accounts', finalize(40n, { accounts: [team] }), 'accounts', 'acme'],
    ['more accounts', finalize(40n, { accounts: [WALLET, team] }), 'accounts', 'acme'],
    ['another model', finalize(40n, { model: 'other' }), 'model', 'gpt'],
  ])('with %s is refused, naming the field and what was recorded', (_what, command, field, recorded) => {
    given(opened(), opened({ account: team }), reserved({ model: 'gpt' }))
      .when(command)
      .isRejected({ code: 'id_reused', id: 'r1', field, recorded });
  });

  test('with no amount for one of its units is refused, naming the unit', () => {
    const shares = [
      { account: WALLET, amount: 60n },
      { account: quota, unit: 'TOK', amount: 60n },
    ];
    const two = given(opened(), opened({ account: quota, unit: 'TOK' }), reserved({ shares }));
    two.when(finalize(byUnit({ USD: 40n }))).isRejected({ code: 'amount_missing', unit: 'TOK' });
    two.when(finalize(none)).isRejected({ code: 'amount_missing', unit: 'USD' });
    two.when(finalize(40n)).isRejected({ code: 'unit_mismatch', units: ['USD', 'TOK'] });
    two.when(finalize(byUnit({ USD: 1n, TOK: 1n, EUR: 1n }))).isRejected({ code: 'unit_unknown', unit: 'EUR' });
  });
});

describe('a finalize after expiry', () => {
  const expired = [...held, refunded({ reason: 'expired' })];
  const late = finalized({ amount: 40n, late: true });

  test('is charged all the same, with no hold to close, and marked late', () => {
    given(...expired)
      .when(finalize(40n), after(700))
      .makes(late)
      .leaves(WALLET, { available: 60n, held: 0n, used: 40n })
      .answers({ reservation: { state: 'finalized', late: true } });
  });

  test('again is a replay at the late one’s position', () => {
    given(...expired, late)
      .when(finalize(40n), after(800))
      .replays(5)
      .answers({ reservation: { late: true } })
      .leaves(WALLET, { used: 40n });
  });

  test('that the sweeper has not seen yet closes the hold, and is late', () => {
    given(...held)
      .when(finalize(40n), after(600))
      .makes(finalized({ closing: 60n, amount: 40n, late: true }));
    given(...held)
      .when(finalize(40n), after(600) - 1)
      .makes(finalized({ closing: 60n, amount: 40n, late: false }));
  });

  test('makes the reservation finalized: it cannot be refunded any more', () => {
    given(...expired, late)
      .when(refund())
      .isRejected({ code: 'reservation_finalized', id: 'r1' });
  });
});

describe('a cold finalize (no reservation under its id)', () => {
  const wallet = [opened(), recharged(100n)];

  test('charges the accounts that it names, with no hold to close', () => {
    given(...wallet)
      .when(finalize(40n, { accounts: [WALLET] }))
      .makes(finalized({ amount: 40n, cold: true }))
      .leaves(WALLET, { available: 60n, held: 0n, used: 40n })
      .answers({ reservation: { state: 'finalized', opened: false, held: [], late: false } });
  });

  test('without accounts is refused: there is no reservation, and nothing is made', () => {
    given(...wallet)
      .when(finalize(40n))
      .isRejected({ code: 'reservation_not_found', id: 'r1' });
  });

  test('of an account that does not exist is refused by its name', () => {
    given(...wallet)
      .when(finalize(40n, { accounts: [team] }))
      .isRejected({ code: 'account_not_found', account: team });
  });

  test('of accounts of two units needs an amount for each', () => {
    given(...wallet, opened({ account: quota, unit: 'TOK' }))
      .when(finalize(40n, { accounts: [WALLET, quota] }))
      .isRejected({ code: 'unit_mismatch', units: ['USD', 'TOK'] });
  });

  test('again is a replay, with or without its accounts', () => {
    const story = given(...wallet, finalized({ amount: 40n, cold: true }));
    story.when(finalize(40n, { accounts: [WALLET] })).replays(3);
    story.when(finalize(40n)).replays(3);
  });

  test('closes its id: a refund is refused as finalized', () => {
    given(...wallet, finalized({ amount: 40n, cold: true }))
      .when(refund())
      .isRejected({ code: 'reservation_finalized', id: 'r1' });
  });
});
