import type { SetMaxCost } from '../command.js';
import { maxCostKey } from '../state.js';
import type { LedgerState, MaxCost } from '../state.js';
import type { Draft, Verdict } from './decision.js';

/** An operator sets a model's max_cost, for each unit given; a raise that waited for the operator is thereby answered. */
export const decideSetMaxCost = (state: LedgerState, command: SetMaxCost): Verdict => {
  const drafts: Draft[] = [];
  for (const [unit, amount] of command.amounts) {
    const known = state.maxCosts.get(maxCostKey(command.model, unit));
    if (known?.amount === amount && known.pending === undefined) continue;
    const data = {
      model: command.model,
      unit,
      amount,
      ...(known === undefined ? {} : { previous: known.amount }),
      revision: (known?.revision ?? 0) + 1,
      postings: [],
    };
    drafts.push({ tenant: command.tenant, subject: command.model, payload: { name: 'MaxCostSet', data } });
  }
  const answer = () => ({ kind: 'max_cost', maxCosts: maxCostsOf(state, command) }) as const;
  const [first, ...rest] = drafts;
  return first === undefined
    ? { kind: 'replay', position: 0, answer: answer() }
    : { kind: 'write', drafts: [first, ...rest], answer };
};

const maxCostsOf = (state: LedgerState, { model, amounts }: SetMaxCost): MaxCost[] =>
  [...amounts.keys()].flatMap((unit) => state.maxCosts.get(maxCostKey(model, unit)) ?? []);
