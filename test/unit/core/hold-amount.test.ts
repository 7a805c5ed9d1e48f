import { describe, test } from 'vitest';
import type { HoldPolicy } from '../../../events/index.js';
import { WALLET, maxCostSet, opened, recharged, reserved } from './facts.js';
import { given } from './given.js';
import { none, reserve, sole } from './orders.js';

const wallet = [opened(), recharged(1000n)];
const known = maxCostSet({ amount: 65n });

describe('what is held', () => {
  test.each<[HoldPolicy, string, bigint | undefined, bigint]>([
    ['larger', 'the caller’s amount when it is larger', 66n, 66n],
    ['larger', 'the model’s max_cost when that is larger', 64n, 65n],
    ['larger', 'either when they are equal', 65n, 65n],
    ['larger', 'the model’s max_cost when the caller gives none', undefined, 65n],
    ['caller', 'the caller’s amount when it is larger', 66n, 66n],
    ['caller', 'the caller’s amount when it is smaller', 64n, 64n],
    ['caller', 'the model’s max_cost when the caller gives none', undefined, 65n],
    ['model', 'the model’s max_cost when the caller’s amount is larger', 66n, 65n],
    ['model', 'the model’s max_cost when the caller’s amount is smaller', 64n, 65n],
    ['model', 'the model’s max_cost when the caller gives none', undefined, 65n],
  ])('under the policy %s is %s', (policy, _what, asked, held) => {
    given(...wallet, known)
      .when(reserve({ model: 'gpt', policy, requested: asked === undefined ? none : sole(asked) }))
      .makes(
        reserved({
          model: 'gpt',
          policy,
          amount: held,
          requested: asked === undefined ? [] : [{ unit: 'USD', amount: asked }],
        }),
      );
  });

  test.each<HoldPolicy>(['larger', 'caller'])('under %s is the caller’s amount while the model has none', (policy) => {
    given(...wallet)
      .when(reserve({ model: 'gpt', policy }))
      .leaves(WALLET, { held: 60n });
  });

  test('under the policy model is unknown while the model has none, whatever the caller says', () => {
    given(...wallet)
      .when(reserve({ model: 'gpt', policy: 'model' }))
      .isRejected({ code: 'max_cost_unknown', model: 'gpt', unit: 'USD' });
  });

  test.each<HoldPolicy>(['larger', 'caller', 'model'])(
    'under %s is unknown when the caller gives no amount and the model has none',
    (policy) => {
      given(...wallet)
        .when(reserve({ model: 'gpt', policy, requested: none }))
        .isRejected({ code: 'max_cost_unknown', model: 'gpt', unit: 'USD' });
    },
  );

  test('is unknown when the model has a max_cost in another unit only', () => {
    given(...wallet, maxCostSet({ unit: 'TOK', amount: 500n }))
      .when(reserve({ model: 'gpt', requested: none }))
      .isRejected({ code: 'max_cost_unknown', model: 'gpt', unit: 'USD' });
  });

  test('is missing when there is neither amount nor model', () => {
    given(...wallet)
      .when(reserve({ requested: none }))
      .isRejected({ code: 'amount_missing', unit: 'USD' });
  });

  test('is what Redis took, when it took: also when max_cost was raised since', () => {
    given(...wallet, known)
      .when(reserve({ model: 'gpt', settled: new Map([['USD', 61n]]) }))
      .makes(reserved({ model: 'gpt', amount: 61n, requested: [{ unit: 'USD', amount: 60n }] }));
  });

  test('by Redis still has to be there in the journal: Redis is the filter, not the judge', () => {
    given(opened(), recharged(60n))
      .when(reserve({ settled: new Map([['USD', 61n]]) }))
      .isRejected({ code: 'insufficient_quota', account: WALLET, unit: 'USD', available: 60n, required: 61n });
  });

  test('is refused as too little by the amount that would be held, not by the one asked for', () => {
    given(opened(), recharged(62n), known)
      .when(reserve({ model: 'gpt', requested: sole(1n) }))
      .isRejected({ code: 'insufficient_quota', account: WALLET, unit: 'USD', available: 62n, required: 65n });
  });
});
