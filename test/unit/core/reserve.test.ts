import { describe, expect, test } from 'vitest';
import { maxCostSet, opened, recharged, reserved, finalized, refunded, after, WALLET } from './facts.js';
import { given, inTurn } from './given.js';
import { byUnit, none, reserve, sole } from './orders.js';

const quota = 'acme/tokens';
const team = 'acme/team';
const wallet = [opened(), recharged(100n)];

describe('a reserve', () => {
  test('moves its amount from available to held', () => {
    given(...wallet)
      .when(reserve())
      .makes(reserved())
      .leaves(WALLET, { available: 40n, held: 60n, used: 0n, funded: -100n })
      .answers({ reservation: { id: 'r1', state: 'open', opened: true, held: [{ unit: 'USD', amount: 60n }] } });
  });

  test('expires its time to live after it was appended', () => {
    given(...wallet)
      .when(reserve({ ttlSeconds: 5 }))
      .makes(reserved({ ttl: 5 }))
      .answers({ reservation: { expiresAtMs: after(5), ttlSeconds: 5 } });
  });

  test('keeps model, level, policy and metadata', () => {
    const { events } = given(...wallet, maxCostSet({ amount: 1n })).when(
      reserve({ model: 'gpt', level: 'replicated', policy: 'caller', metadata: { user: 'u1' } }),
    );
    expect(events[0]?.event.data).toMatchObject({
      model: 'gpt',
      level: 'replicated',
      hold_policy: 'caller',
      metadata: { user: 'u1' },
    });
  });

  test('carries the trace context into its event', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const { events } = given(...wallet).when(reserve({ traceparent }));
    expect(events[0]?.event.traceparent).toBe(traceparent);
  });

  test('may take all that there is, to the unit', () => {
    given(...wallet)
      .when(reserve({ requested: sole(100n) }))
      .leaves(WALLET, { available: 0n, held: 100n });
  });

  test('of one unit more than there is is refused, saying what there is and what was asked', () => {
    given(...wallet)
      .when(reserve({ requested: sole(101n) }))
      .isRejected({ code: 'insufficient_quota', account: WALLET, unit: 'USD', available: 100n, required: 101n });
  });

  test('of 0 is granted on an empty account', () => {
    given(opened())
      .when(reserve({ requested: sole(0n) }))
      .makes(reserved({ amount: 0n }));
  });

  test('may use the overdraft, to the unit, and no more', () => {
    const story = given(opened({ overdraft_limit: 50n }), recharged(100n));
    story.when(reserve({ requested: sole(150n) })).leaves(WALLET, { available: -50n, held: 150n });
    story
      .when(reserve({ requested: sole(151n) }))
      .isRejected({ code: 'insufficient_quota', account: WALLET, unit: 'USD', available: 150n, required: 151n });
  });

  test('of an exempt account is granted whatever it has', () => {
    given(opened({ exempt: true }))
      .when(reserve())
      .leaves(WALLET, { available: -60n, held: 60n });
  });

  test('of an account that was never opened is refused by its name, never as too little', () => {
    given().when(reserve()).isRejected({ code: 'account_not_found', account: WALLET });
  });

  test('of another tenant’s account is refused as if there were none', () => {
    given(opened({ account: 'other', tenant: 'other' }))
      .when(reserve({ accounts: ['other'] }))
      .isRejected({ code: 'account_not_found', account: 'other' });
  });

  test('refused leaves no trace: the same id may try again', () => {
    inTurn(wallet, reserve({ requested: sole(101n) }), reserve()).makes(reserved());
  });

  test('takes from several accounts at once, one event with a posting each', () => {
    given(opened(), recharged(100n), opened({ account: team }), recharged(70n, { id: 'paid-2', account: team }))
      .when(reserve({ accounts: [WALLET, team] }))
      .makes(
        reserved({
          shares: [
            { account: WALLET, amount: 60n },
            { account: team, amount: 60n },
          ],
        }),
      )
      .leaves(team, { available: 10n, held: 60n });
  });

  test('refused by one of several takes from none, and names the one', () => {
    given(opened(), recharged(100n), opened({ account: team }), recharged(50n, { id: 'paid-2', account: team }))
      .when(reserve({ accounts: [WALLET, team] }))
      .isRejected({ code: 'insufficient_quota', account: team, unit: 'USD', available: 50n, required: 60n });
  });
});

describe('a reserve in two units', () => {
  const story = [
    ...wallet,
    opened({ account: quota, unit: 'TOK', scale: 0 }),
    recharged(2000n, { id: 'paid-2', account: quota, unit: 'TOK' }),
  ];
  const both = (tokens: bigint) => reserve({ accounts: [WALLET, quota], requested: byUnit({ USD: 60n, TOK: tokens }) });

  test('takes from each account in its own unit', () => {
    given(...story)
      .when(both(2000n))
      .makes(
        reserved({
          shares: [
            { account: WALLET, amount: 60n },
            { account: quota, unit: 'TOK', amount: 2000n },
          ],
          requested: [
            { unit: 'USD', amount: 60n },
            { unit: 'TOK', amount: 2000n },
          ],
        }),
      )
      .leaves(WALLET, { available: 40n, held: 60n })
      .leaves(quota, { available: 0n, held: 2000n });
  });

  test('with the quota short takes nothing from either and names the quota', () => {
    given(...story)
      .when(both(2001n))
      .isRejected({ code: 'insufficient_quota', account: quota, unit: 'TOK', available: 2000n, required: 2001n });
  });

  test('with one amount for both is refused: it can’t be dollars and tokens', () => {
    given(...story)
      .when(reserve({ accounts: [WALLET, quota] }))
      .isRejected({ code: 'unit_mismatch', units: ['USD', 'TOK'] });
  });

  test('with no amount for one of them is refused, naming the unit', () => {
    given(...story)
      .when(reserve({ accounts: [WALLET, quota], requested: byUnit({ USD: 60n }) }))
      .isRejected({ code: 'amount_missing', unit: 'TOK' });
  });

  test('with an amount in a unit of none of them is refused, naming the unit', () => {
    given(...story)
      .when(reserve({ requested: byUnit({ USD: 60n, EUR: 1n }) }))
      .isRejected({ code: 'unit_unknown', unit: 'EUR' });
  });

  test('may leave one unit to the model', () => {
    given(...story, maxCostSet({ unit: 'TOK', amount: 500n }))
      .when(reserve({ accounts: [WALLET, quota], model: 'gpt', requested: byUnit({ USD: 60n }) }))
      .leaves(WALLET, { held: 60n })
      .leaves(quota, { held: 500n });
  });
});

describe('the same reserve again', () => {
  const held = [...wallet, reserved()];

  test('is a replay at the first one’s position, and holds nothing more', () => {
    given(...held)
      .when(reserve())
      .replays(3)
      .answers({ reservation: { state: 'open' } })
      .leaves(WALLET, { held: 60n });
  });

  test('is a replay also when the account is empty by now', () => {
    given(opened(), recharged(60n), reserved()).when(reserve()).replays(3);
  });

  test('shows the state as it is now: finalized', () => {
    given(...held, finalized({ closing: 60n, amount: 40n }))
      .when(reserve())
      .replays(3)
      .answers({ reservation: { state: 'finalized', cost: [{ unit: 'USD', amount: 40n }] } });
  });

  test('shows the state as it is now: refunded', () => {
    given(...held, refunded({ reason: 'cancelled' }))
      .when(reserve())
      .replays(3)
      .answers({ reservation: { state: 'refunded', reason: 'cancelled' } });
  });

  test('may ask for another level and say other metadata', () => {
    given(...held)
      .when(reserve({ level: 'replicated', metadata: { retry: 1 } }))
      .replays(3)
      .answers({ reservation: { level: 'durable' } });
  });

  test('may name its accounts in another order and its amount by unit', () => {
    const shares = [WALLET, team].map((account) => ({ account, amount: 60n }));
    given(opened(), opened({ account: team }), reserved({ shares }))
      .when(reserve({ accounts: [team, WALLET], requested: byUnit({ USD: 60n }) }))
      .replays(3);
  });

  test('in another tenant is that tenant’s own', () => {
    given(...held, opened({ account: 'other', tenant: 'other' }))
      .when(reserve({ tenant: 'other', accounts: ['other'], requested: sole(0n) }))
      .answers({ reservation: { tenant: 'other', state: 'open', position: 5 } });
  });

  test('of an id that a finalize without reservation used is refused as closed, known since there', () => {
    given(...wallet, finalized({ cold: true, amount: 40n }))
      .when(reserve())
      .isRejected({ code: 'reservation_closed', id: 'r1' }, 3);
  });

  test.each([
    ['another amount', 'amount', '60 USD', reserve({ requested: sole(61n) })],
    ['another amount by unit', 'amounts', '60 USD', reserve({ requested: byUnit({ USD: 61n }) })],
    ['no amount', 'amount', '60 USD', reserve({ requested: none })],
    ['another account', 'accounts', 'acme', reserve({ accounts: [team] })],
    ['one more account', 'accounts', 'acme', reserve({ accounts: [WALLET, team] })],
    ['a model', 'model', 'none', reserve({ model: 'gpt' })],
    ['another time to live', 'ttl_seconds', '600', reserve({ ttlSeconds: 601 })],
  ])('with %s is refused, naming the field and what was recorded', (_what, field, recorded, command) => {
    given(...held, opened({ account: team }))
      .when(command)
      .isRejected({ code: 'id_reused', id: 'r1', field, recorded }, 3);
  });

  test('without the first one’s model is refused, naming it', () => {
    given(...wallet, reserved({ model: 'gpt' }))
      .when(reserve())
      .isRejected({ code: 'id_reused', id: 'r1', field: 'model', recorded: 'gpt' }, 3);
  });

  test('with an amount where the first left it to the model is refused', () => {
    given(...wallet, reserved({ model: 'gpt', requested: [] }))
      .when(reserve({ model: 'gpt' }))
      .isRejected({ code: 'id_reused', id: 'r1', field: 'amount', recorded: 'none' }, 3);
  });
});
