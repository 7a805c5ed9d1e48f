import { describe, expect, test } from 'vitest';
import { WALLET, after, extended, finalized, opened, recharged, refunded, reserved } from './facts.js';
import { given, inTurn } from './given.js';
import { expire, extend, finalize, refund, reserve } from './orders.js';

const held = [opened(), recharged(100n), reserved()];
const closed = [...held, finalized({ closing: 60n, amount: 40n })];
const givenBack = [...held, refunded({ reason: 'cancelled' })];
const expired = [...held, refunded({ reason: 'expired' })];

describe('a refund', () => {
  test('gives the hold back', () => {
    given(...held)
      .when(refund({ reason: 'cancelled' }))
      .makes(refunded({ reason: 'cancelled' }))
      .leaves(WALLET, { available: 100n, held: 0n, used: 0n, funded: -100n })
      .answers({ reservation: { state: 'refunded', reason: 'cancelled' } });
  });

  test('gives back to every account of the reservation', () => {
    const team = 'acme/team';
    const shares = [WALLET, team].map((account) => ({ account, amount: 60n }));
    given(opened(), opened({ account: team }), reserved({ shares }))
      .when(refund())
      .makes(refunded({ shares }))
      .leaves(WALLET, { available: 0n, held: 0n })
      .leaves(team, { available: 0n, held: 0n });
  });

  test('keeps the reservation’s model and metadata', () => {
    const told = inTurn(held.slice(0, 2), reserve({ model: 'gpt', metadata: { user: 'u1' } }), refund());
    expect(told.events[0]?.event.data).toMatchObject({ model: 'gpt', metadata: { user: 'u1' } });
  });

  test('again, whatever its reason, is a replay that shows the first reason', () => {
    given(...givenBack)
      .when(refund({ reason: 'failed' }))
      .replays(4)
      .answers({ reservation: { state: 'refunded', reason: 'cancelled' } })
      .leaves(WALLET, { available: 100n });
  });

  test('after expiry is a replay of the sweeper’s', () => {
    given(...expired)
      .when(refund())
      .replays(4)
      .answers({ reservation: { reason: 'expired' } });
  });

  test('past the expiry that no sweeper has seen yet gives the hold back under the caller’s reason', () => {
    given(...held)
      .when(refund(), after(700))
      .makes(refunded());
  });

  test('after a finalize is a conflict, and nothing changes', () => {
    given(...closed)
      .when(refund())
      .isRejected({ code: 'reservation_finalized', id: 'r1' });
  });

  test('of an unknown id is not found', () => {
    given(...held)
      .when(refund({ id: 'r2' }))
      .isRejected({ code: 'reservation_not_found', id: 'r2' });
  });

  test('of another tenant’s id is not found', () => {
    given(...held)
      .when(refund({ tenant: 'other' }))
      .isRejected({ code: 'reservation_not_found', id: 'r1' });
  });

  test('closes the id for good: a reserve of it is a replay, not a new grant', () => {
    inTurn(held.slice(0, 2), reserve(), refund(), reserve())
      .replays(3)
      .answers({ reservation: { state: 'refunded' } })
      .leaves(WALLET, { held: 0n });
  });
});

describe('an expiry', () => {
  test('gives the hold back once its time has come, to the millisecond', () => {
    given(...held)
      .when(expire(), after(600))
      .makes(refunded({ reason: 'expired' }))
      .leaves(WALLET, { available: 100n, held: 0n });
  });

  test('does nothing a millisecond too early', () => {
    given(...held)
      .when(expire(), after(600) - 1)
      .replays(3)
      .answers({ reservation: { state: 'open' } });
  });

  test('does nothing when the reservation was extended since it was looked up', () => {
    given(...held, extended({ ttl: 900, toMs: after(900) }))
      .when(expire(), after(600))
      .replays(3);
  });

  test.each([
    ['finalized', closed],
    ['refunded', givenBack],
    ['refunded', expired],
  ])('does nothing when it was %s since', (state, story) => {
    given(...story)
      .when(expire(), after(700))
      .replays(4)
      .answers({ reservation: { state } });
  });

  test('of an unknown id is not found', () => {
    given(...held)
      .when(expire('r2'), after(700))
      .isRejected({ code: 'reservation_not_found', id: 'r2' });
  });
});

describe('an extend', () => {
  test('moves the expiry to its time to live from now', () => {
    given(...held)
      .when(extend(600), after(100))
      .makes(extended({ ttl: 600, toMs: after(700) }))
      .answers({ reservation: { state: 'open', expiresAtMs: after(700) } })
      .leaves(WALLET, { available: 40n, held: 60n });
  });

  test('keeps the reservation’s model', () => {
    const told = inTurn(held.slice(0, 2), reserve({ model: 'gpt' }), extend(900));
    expect(told.events[0]?.event.data).toMatchObject({ model: 'gpt' });
  });

  test('only moves forward: to an earlier or the same time it changes nothing and is no error', () => {
    const story = given(...held);
    story
      .when(extend(599))
      .replays(3)
      .answers({ reservation: { expiresAtMs: after(600) } });
    story
      .when(extend(600))
      .replays(3)
      .answers({ reservation: { expiresAtMs: after(600) } });
  });

  test('counts from where the last extend left off', () => {
    given(...held, extended({ ttl: 900, toMs: after(900) }))
      .when(extend(1000))
      .makes(extended({ ttl: 1000, fromMs: after(900), toMs: after(1000) }));
  });

  test('saves a reservation that is past its time and was not given back yet', () => {
    given(...held)
      .when(extend(600), after(700))
      .makes(extended({ ttl: 600, toMs: after(1300) }));
  });

  test('does not change what the reserve asked for: the same reserve is still a replay', () => {
    given(...held, extended({ ttl: 900, toMs: after(900) }))
      .when(reserve())
      .replays(3)
      .answers({ reservation: { ttlSeconds: 600, expiresAtMs: after(900) } });
  });

  test('of what is closed is a conflict that says how', () => {
    given(...closed)
      .when(extend(900))
      .isRejected({ code: 'reservation_finalized', id: 'r1' });
    given(...givenBack)
      .when(extend(900))
      .isRejected({ code: 'reservation_refunded', id: 'r1', reason: 'cancelled' });
    given(...expired)
      .when(extend(900))
      .isRejected({ code: 'reservation_refunded', id: 'r1', reason: 'expired' });
  });

  test('of an unknown id is not found', () => {
    given(...held)
      .when(extend(900, 'r2'))
      .isRejected({ code: 'reservation_not_found', id: 'r2' });
  });

  test('makes a finalize between the first and the later expiry a timely one', () => {
    given(...held, extended({ ttl: 900, toMs: after(900) }))
      .when(finalize(40n), after(800))
      .makes(finalized({ closing: 60n, amount: 40n }));
  });
});
