import { describe, expect, test } from 'vitest';
import { WALLET, adjusted, opened, recharged, reserved } from './facts.js';
import { given, inTurn } from './given.js';
import { adjust, recharge } from './orders.js';

const team = 'acme/team';

describe('a recharge', () => {
  test('adds to available what was paid in', () => {
    given(opened())
      .when(recharge(100n))
      .makes(recharged(100n))
      .leaves(WALLET, { available: 100n, held: 0n, used: 0n, funded: -100n })
      .answers({ kind: 'funding', funding: { id: 'paid-1', amount: 100n }, account: { available: 100n } });
  });

  test('keeps its reference and metadata', () => {
    const { events } = given(opened()).when(recharge(100n, { reference: 'inv-7', metadata: { by: 'card' } }));
    expect(events[0]?.event.data).toMatchObject({ reference: 'inv-7', metadata: { by: 'card' } });
  });

  test('lifts a balance out of the overdraft', () => {
    given(opened({ exempt: true }), reserved())
      .when(recharge(100n))
      .leaves(WALLET, { available: 40n, held: 60n });
  });

  test('of an account that does not exist is refused by its name', () => {
    given().when(recharge(100n)).isRejected({ code: 'account_not_found', account: WALLET });
  });

  test('of another tenant’s account is refused as if there were none', () => {
    given(opened())
      .when(recharge(100n, { tenant: 'other' }))
      .isRejected({ code: 'account_not_found', account: WALLET });
  });

  test('with the same id counts once; the answer shows the balance as it is now', () => {
    given(opened(), recharged(100n), reserved())
      .when(recharge(100n))
      .replays(2)
      .answers({ funding: { position: 2 }, account: { available: 40n, held: 60n } });
  });

  test.each([
    ['another amount', recharge(101n), 'amount', '100'],
    ['another account', recharge(100n, { account: team }), 'account', WALLET],
    ['a reference that the first did not have', recharge(100n, { reference: 'inv-7' }), 'reference', 'none'],
  ])('with the same id and %s is refused, naming the field', (_what, command, field, recorded) => {
    given(opened(), opened({ account: team }), recharged(100n))
      .when(command)
      .isRejected({ code: 'id_reused', id: 'paid-1', field, recorded });
  });

  test('with the same id and another reference, or none, is refused, naming the field', () => {
    const story = given(opened(), recharged(100n, { reference: 'inv-7' }));
    const reused = { code: 'id_reused', id: 'paid-1', field: 'reference', recorded: 'inv-7' } as const;
    story.when(recharge(100n, { reference: 'inv-8' })).isRejected(reused);
    story.when(recharge(100n)).isRejected(reused);
  });

  test('with the same payment reference under another id counts once, and answers the first', () => {
    given(opened(), recharged(100n, { reference: 'inv-7' }))
      .when(recharge(100n, { id: 'paid-2', reference: 'inv-7' }))
      .replays(2)
      .answers({ funding: { id: 'paid-1' } })
      .leaves(WALLET, { available: 100n });
  });

  test('with the same reference and another amount or account is refused, naming the first id and the field', () => {
    const story = given(opened(), opened({ account: team }), recharged(100n, { reference: 'inv-7' }));
    const reused = { code: 'id_reused', id: 'paid-1' } as const;
    story
      .when(recharge(99n, { id: 'paid-2', reference: 'inv-7' }))
      .isRejected({ ...reused, field: 'amount', recorded: '100' });
    story
      .when(recharge(100n, { id: 'paid-2', reference: 'inv-7', account: team }))
      .isRejected({ ...reused, field: 'account', recorded: WALLET });
  });

  test('of a known id does not take over another recharge’s reference', () => {
    given(opened(), recharged(100n, { reference: 'inv-7' }), recharged(100n, { id: 'paid-2', reference: 'inv-8' }))
      .when(recharge(100n, { id: 'paid-2', reference: 'inv-7' }))
      .isRejected({ code: 'id_reused', id: 'paid-2', field: 'reference', recorded: 'inv-8' });
  });

  test('without references: two ids are two payments', () => {
    inTurn([opened()], recharge(100n), recharge(100n, { id: 'paid-2' })).leaves(WALLET, { available: 200n });
  });

  test('ids and references are each tenant’s own', () => {
    given(opened(), recharged(100n, { reference: 'inv-7' }), opened({ account: 'other', tenant: 'other' }))
      .when(recharge(5n, { tenant: 'other', account: 'other', reference: 'inv-7' }))
      .leaves('other', { available: 5n });
  });
});

describe('an adjustment', () => {
  test('adds what it says', () => {
    given(opened())
      .when(adjust(100n))
      .makes(adjusted(100n))
      .leaves(WALLET, { available: 100n, funded: -100n })
      .answers({ kind: 'funding', funding: { kind: 'adjust', reason: 'wrong invoice' } });
  });

  test('keeps its metadata', () => {
    const { events } = given(opened()).when(adjust(1n, { metadata: { ticket: 7 } }));
    expect(events[0]?.event.data).toMatchObject({ metadata: { ticket: 7 } });
  });

  test('may take away, below zero too: it is an operator’s word', () => {
    given(opened(), recharged(30n))
      .when(adjust(-100n))
      .makes(adjusted(-100n))
      .leaves(WALLET, { available: -70n, funded: 70n });
  });

  test('with the same id counts once', () => {
    given(opened(), adjusted(100n)).when(adjust(100n)).replays(2).leaves(WALLET, { available: 100n });
  });

  test('may have the id of a recharge: they are counted apart', () => {
    given(opened(), recharged(100n, { id: 'x' }))
      .when(adjust(5n, { id: 'x' }))
      .leaves(WALLET, { available: 105n });
  });

  test.each([
    ['another amount', adjust(-100n), 'amount', '100'],
    ['another account', adjust(100n, { account: team }), 'account', WALLET],
    ['another reason', adjust(100n, { reason: 'goodwill' }), 'reason', 'wrong invoice'],
  ])('with the same id and %s is refused, naming the field', (_what, command, field, recorded) => {
    given(opened(), opened({ account: team }), adjusted(100n))
      .when(command)
      .isRejected({ code: 'id_reused', id: 'adjust-1', field, recorded });
  });

  test('of an account that does not exist is refused by its name', () => {
    given().when(adjust(1n)).isRejected({ code: 'account_not_found', account: WALLET });
  });
});
