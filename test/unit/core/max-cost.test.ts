import { describe, expect, test } from 'vitest';
import { execute } from '../../../src/core/decide/index.js';
import { initialState, maxCostKey } from '../../../src/core/state.js';
import type { MaxCost } from '../../../src/core/state.js';
import { WALLET, finalized, maxCostRaised, maxCostSet, opened, recharged, refunded, reserved } from './facts.js';
import { emptyTail, given } from './given.js';
import type { Came } from './given.js';
import { byUnit, finalize, none, open, reserve, setMaxCost, sole } from './orders.js';

const held = [opened(), recharged(100_000n), reserved({ model: 'gpt', amount: 60n })];
const of65 = [...held, maxCostSet({ amount: 65n })];
const charged = (amount: bigint, pending = false) => finalized({ model: 'gpt', closing: 60n, amount, pending });
const known = (came: Came): MaxCost | undefined => came.state.maxCosts.get(maxCostKey('gpt', 'USD'));

describe('a finalize against its model’s max_cost', () => {
  test.each([0n, 64n, 65n])('of %s, at or below it, leaves it', (cost) => {
    given(...of65)
      .when(finalize(cost))
      .makes(charged(cost));
  });

  test('of one unit above raises it in the same transaction, and says so', () => {
    given(...of65)
      .when(finalize(66n))
      .makes(charged(66n), maxCostRaised({ amount: 66n, previous: 65n, revision: 2 }))
      .answers({ reservation: { state: 'finalized', raised: [{ unit: 'USD', amount: 66n }] } });
  });

  test('of exactly 10 × raises it', () => {
    given(...of65)
      .when(finalize(650n))
      .makes(charged(650n), maxCostRaised({ amount: 650n, previous: 65n, revision: 2 }));
  });

  test('of more than 10 × is charged, and the raise waits for an operator', () => {
    const came = given(...of65).when(finalize(651n));
    came.makes(charged(651n, true)).leaves(WALLET, { available: 99_349n, used: 651n });
    expect(known(came)).toEqual({ model: 'gpt', unit: 'USD', amount: 65n, revision: 1, pending: 651n });
  });

  test('of more than another factor waits when that factor is set', () => {
    const state = initialState();
    const tail = emptyTail();
    const run = (command: Parameters<typeof execute>[2]) => execute(state, tail, command, 0, { raiseFactor: 2n });
    run(open());
    run(setMaxCost({ USD: 65n }));
    expect(run(finalize(130n, { id: 'a', accounts: [WALLET], model: 'gpt' })).events).toHaveLength(2);
    expect(run(finalize(261n, { id: 'b', accounts: [WALLET], model: 'gpt' })).events).toHaveLength(1);
  });

  test('of a model that has none sets it, however high', () => {
    given(...held)
      .when(finalize(70_000n))
      .makes(charged(70_000n), maxCostRaised({ amount: 70_000n }));
  });

  test('of a model that has none sets it, however low', () => {
    given(...held)
      .when(finalize(1n))
      .makes(charged(1n), maxCostRaised({ amount: 1n }));
  });

  test('of 0 does not set one', () => {
    given(...held)
      .when(finalize(0n))
      .makes(charged(0n));
  });

  test('of a max_cost of 0 waits for an operator: 0 times anything is 0', () => {
    given(...held, maxCostSet({ amount: 0n }))
      .when(finalize(1n))
      .makes(charged(1n, true));
  });

  test('cold, or late, raises as well', () => {
    given(opened(), maxCostSet({ amount: 65n }))
      .when(finalize(66n, { accounts: [WALLET], model: 'gpt' }))
      .makes(
        finalized({ model: 'gpt', amount: 66n, cold: true }),
        maxCostRaised({ amount: 66n, previous: 65n, revision: 2 }),
      );
    given(...of65, refunded({ model: 'gpt', reason: 'expired' }))
      .when(finalize(66n))
      .makes(
        finalized({ model: 'gpt', amount: 66n, late: true }),
        maxCostRaised({ amount: 66n, previous: 65n, revision: 2 }),
      );
  });

  test('of a reservation without model raises the model that it names itself, if any', () => {
    const plain = [opened(), recharged(100n), reserved(), maxCostSet({ amount: 65n })];
    given(...plain)
      .when(finalize(66n, { model: 'gpt' }))
      .makes(charged(66n), maxCostRaised({ amount: 66n, previous: 65n, revision: 2 }));
    given(...plain)
      .when(finalize(66n))
      .makes(finalized({ closing: 60n, amount: 66n }));
  });

  test('again answers with the raise that the first one caused', () => {
    given(...of65, charged(66n), maxCostRaised({ amount: 66n, previous: 65n, revision: 2 }))
      .when(finalize(66n))
      .replays(5)
      .answers({ reservation: { raised: [{ unit: 'USD', amount: 66n }] } });
  });

  test('judges each unit on its own: one is raised, the other waits', () => {
    const quota = 'acme/tokens';
    const shares = [{ account: WALLET, amount: 60n }, { account: quota, unit: 'TOK', amount: 60n }]; // prettier-ignore
    const story = [opened(), opened({ account: quota, unit: 'TOK' }), reserved({ model: 'gpt', shares })];
    const came = given(...story, maxCostSet({ amount: 65n }), maxCostSet({ unit: 'TOK', amount: 70n })).when(
      finalize(byUnit({ USD: 66n, TOK: 701n })),
    );
    expect(came.events.map(({ event }) => event.name)).toEqual(['Finalized', 'MaxCostRaised']);
    expect(known(came)).toMatchObject({ amount: 66n, revision: 2 });
    expect(came.state.maxCosts.get(maxCostKey('gpt', 'TOK'))).toMatchObject({ amount: 70n, pending: 701n });
  });
});

describe('a raise that waits', () => {
  const waiting = [...of65, charged(651n, true)];

  test('does not refuse anybody: the next hold is still the old max_cost', () => {
    given(...waiting)
      .when(reserve({ id: 'r2', model: 'gpt', requested: none }))
      .answers({ reservation: { held: [{ unit: 'USD', amount: 65n }] } });
  });

  test('is answered by an operator, also with the old amount, and then waits no more', () => {
    const came = given(...waiting).when(setMaxCost({ USD: 65n }));
    came.makes(maxCostSet({ amount: 65n, previous: 65n, revision: 2 }));
    expect(known(came)).toEqual({ model: 'gpt', unit: 'USD', amount: 65n, revision: 2 });
  });

  test('keeps the highest cost that waits', () => {
    const story = [...waiting, reserved({ id: 'r2', model: 'gpt' })];
    expect(known(given(...story).when(finalize(700n, { id: 'r2' })))).toMatchObject({ amount: 65n, pending: 700n });
    const lower = [...of65, charged(700n, true), reserved({ id: 'r2', model: 'gpt' })];
    expect(known(given(...lower).when(finalize(651n, { id: 'r2' })))).toMatchObject({ amount: 65n, pending: 700n });
  });

  test('goes on waiting when a smaller raise happens, and ends when one reaches it', () => {
    const story = [...waiting, reserved({ id: 'r2', model: 'gpt' })];
    const smaller = given(...story).when(finalize(100n, { id: 'r2' }));
    expect(known(smaller)).toEqual({ model: 'gpt', unit: 'USD', amount: 100n, revision: 2, pending: 651n });
    const raised = maxCostRaised({ by: 'r2', amount: 100n, previous: 65n, revision: 2 });
    const reached = given(...story, raised, reserved({ id: 'r3', model: 'gpt' })).when(finalize(651n, { id: 'r3' }));
    expect(known(reached)).toEqual({ model: 'gpt', unit: 'USD', amount: 651n, revision: 3 });
  });
});

describe('an operator’s max_cost', () => {
  test('is set for each unit given, upward or downward', () => {
    given(maxCostSet({ amount: 65n }))
      .when(setMaxCost({ USD: 5n, TOK: 1000n }))
      .makes(maxCostSet({ amount: 5n, previous: 65n, revision: 2 }), maxCostSet({ unit: 'TOK', amount: 1000n }))
      .answers({ kind: 'max_cost', maxCosts: [{ amount: 5n, revision: 2 }, { unit: 'TOK', amount: 1000n }] }); // prettier-ignore
  });

  test('that is so already is a replay', () => {
    given(maxCostSet({ amount: 65n }))
      .when(setMaxCost({ USD: 65n }))
      .replays(0)
      .answers({ maxCosts: [{ amount: 65n, revision: 1 }] });
  });

  test('writes only the units that change', () => {
    given(maxCostSet({ amount: 65n }))
      .when(setMaxCost({ USD: 65n, TOK: 1n }))
      .makes(maxCostSet({ unit: 'TOK', amount: 1n }));
  });

  test('counts from the next reserve on: what was held stays held', () => {
    given(...of65, maxCostSet({ amount: 5n, previous: 65n, revision: 2 }))
      .when(reserve({ id: 'r2', model: 'gpt', requested: sole(1n) }))
      .answers({ reservation: { held: [{ unit: 'USD', amount: 5n }] } })
      .leaves(WALLET, { held: 65n });
  });

  test('of a lower revision never replaces a higher one, in whatever order the partitions are read', () => {
    const came = given(maxCostSet({ amount: 7n, revision: 3 }), maxCostRaised({ amount: 9n, revision: 2 })).when(
      open(),
    );
    expect(known(came)).toMatchObject({ amount: 7n, revision: 3 });
  });
});
