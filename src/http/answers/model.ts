import type { MaxCost } from '../../core/state.js';
import type { ModelAnswer } from '../schemas/model.js';
import { amountsOf, someAmounts } from './amounts.js';

/** A model with its max_cost for each unit. */
export const modelAnswer = (id: string, maxCosts: readonly MaxCost[]): ModelAnswer => ({
  id,
  amounts: amountsOf(maxCosts),
  revision: maxCosts.reduce((sum, { revision }) => sum + revision, 0),
  pending: someAmounts(
    maxCosts.flatMap(({ unit, pending }) => (pending === undefined ? [] : { unit, amount: pending })),
  ),
});
