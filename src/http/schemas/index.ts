import {
  AccountAnswer,
  AdjustmentBody,
  FundingAnswer,
  OpenAccountBody,
  RechargeBody,
} from './account.js';
import { putBatchAnswer, putBatchBody } from './batch.js';
import { TrailAnswer } from './event.js';
import { HealthAnswer, ReadinessAnswer } from './health.js';
import { SchemaShelf } from './json-schema.js';
import { MaxCostBody, ModelAnswer } from './model.js';
import { ProblemAnswer, QuotaAnswer } from './problem.js';
import {
  ExtendBody,
  FINALIZE_RULES,
  FinalizeBody,
  FinalizedAnswer,
  RESERVE_RULES,
  RefundBody,
  ReservationAnswer,
  ReservationHistoryAnswer,
  ReserveBody,
} from './reservation.js';
import type { ReservationLimits } from './reservation.js';

export { SchemaShelf } from './json-schema.js';
export type { Json, JsonObject } from './json-schema.js';

/** Every schema of the interface, put on one shelf; the members are references for the routes. */
export const shelve = (limits: ReservationLimits) => {
  const shelf = new SchemaShelf();
  const answers = {
    account: shelf.put(AccountAnswer),
    funding: shelf.put(FundingAnswer),
    reservation: shelf.put(ReservationAnswer),
    finalized: shelf.put(FinalizedAnswer),
    history: shelf.put(ReservationHistoryAnswer),
    trail: shelf.put(TrailAnswer),
    model: shelf.put(ModelAnswer),
    problem: shelf.put(ProblemAnswer),
    quota: shelf.put(QuotaAnswer),
    health: shelf.put(HealthAnswer),
    readiness: shelf.put(ReadinessAnswer),
  };
  const bodies = {
    openAccount: shelf.put(OpenAccountBody),
    recharge: shelf.put(RechargeBody),
    adjustment: shelf.put(AdjustmentBody),
    reserve: shelf.put(ReserveBody(limits), RESERVE_RULES),
    finalize: shelf.put(FinalizeBody, FINALIZE_RULES),
    refund: shelf.put(RefundBody),
    extend: shelf.put(ExtendBody(limits)),
    maxCost: shelf.put(MaxCostBody),
    batch: putBatchBody(shelf, limits),
  };
  const { finalized, reservation, account, funding, quota, problem } = answers;
  const batch = putBatchAnswer(shelf, [finalized, reservation, account, funding, quota, problem]);
  return { shelf, bodies, answers: { ...answers, batch } };
};

export type Shelved = ReturnType<typeof shelve>;
