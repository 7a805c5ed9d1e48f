import { amountMap, given } from '../answers/amounts.js';
import { modelAnswer } from '../answers/model.js';
import type { Call } from '../context.js';
import { problem } from '../errors/problem.js';
import type { Outcome } from '../errors/problem.js';
import type { MaxCostBody } from '../schemas/model.js';
import { answered } from './done.js';

/** An operator's word on what a model costs at most. Units that it does not name stay as they are. */
export const setMaxCost = async (call: Call, model: string, { amounts }: MaxCostBody): Promise<Outcome> => {
  const input = { model, amounts: amountMap(amounts), ...given({ traceparent: call.traceparent }) };
  const result = await call.ledger.setMaxCost(input);
  if (!result.ok) return answered(result, 200, () => ({}));
  const maxCosts = await call.ledger.maxCosts(model);
  return answered(result, 200, () => modelAnswer(model, maxCosts));
};

/** What a model costs at most, for each unit. */
export const getModel = async (call: Call, model: string): Promise<Outcome> => {
  const maxCosts = await call.ledger.maxCosts(model);
  return maxCosts.length === 0
    ? problem('model_not_found', `No max_cost is known for the model ${model}.`, { model })
    : { status: 200, body: modelAnswer(model, maxCosts) };
};
