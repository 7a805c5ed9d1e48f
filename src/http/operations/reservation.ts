import { amountsGiven, given } from '../answers/amounts.js';
import { finalizedAnswer, reservationAnswer } from '../answers/reservation.js';
import type { Call } from '../context.js';
import type { Outcome } from '../errors/problem.js';
import type { ExtendBody, FinalizeBody, RefundBody, ReserveBody } from '../schemas/reservation.js';
import { tenantOfCommand } from '../tenant.js';
import { answered } from './done.js';

/** Which reservation: its id, and its tenant where a body names one (in a batch). */
export interface Which {
  readonly id: string;
  readonly tenant?: string | undefined;
}

/** Holds the most that a request can cost. `id` comes from the body or the Idempotency-Key; the ledger makes one when there is none. */
export const reserve = async (
  call: Call,
  which: { readonly id?: string | undefined; readonly tenant?: string | undefined },
  { accounts, model, amount, amounts, ttl_seconds: ttlSeconds, level, metadata }: ReserveBody,
): Promise<Outcome> => {
  const result = await call.ledger.reserve({
    tenant: tenantOfCommand(call, accounts, which.tenant),
    amount: amountsGiven({ amount, amounts }),
    ...given({ id: which.id, accounts, model, ttlSeconds, level, metadata, traceparent: call.traceparent }),
  });
  return answered(result, 201, ({ reservation, position }) => reservationAnswer(reservation, position));
};

/** Charges what the request really cost. */
export const finalize = async (call: Call, which: Which, body: FinalizeBody): Promise<Outcome> => {
  const { amount, amounts, usage, accounts, model, level, metadata } = body;
  const result = await call.ledger.finalize({
    tenant: tenantOfCommand(call, accounts, which.tenant),
    id: which.id,
    amount: amountsGiven({ amount, amounts }),
    ...given({ usage, accounts, model, level, metadata, traceparent: call.traceparent }),
  });
  return answered(result, 200, ({ reservation, position }) => finalizedAnswer(reservation, position));
};

/** Gives the hold back. */
export const refund = async (call: Call, which: Which, { reason }: RefundBody): Promise<Outcome> => {
  const result = await call.ledger.refund({
    tenant: tenantOfCommand(call, undefined, which.tenant),
    id: which.id,
    reason,
    ...given({ traceparent: call.traceparent }),
  });
  return answered(result, 200, ({ reservation, position }) => reservationAnswer(reservation, position));
};

/** Moves the expiry forward. */
export const extend = async (call: Call, which: Which, body: ExtendBody): Promise<Outcome> => {
  const result = await call.ledger.extend({
    tenant: tenantOfCommand(call, undefined, which.tenant),
    id: which.id,
    ttlSeconds: body.ttl_seconds,
    ...given({ traceparent: call.traceparent }),
  });
  return answered(result, 200, ({ reservation, position }) => reservationAnswer(reservation, position));
};

/** The reservation without its events, as a batch answers it; the history is for the route of its own. */
export const getReservation = async (call: Call, which: Which): Promise<Outcome> => {
  const result = await call.ledger.reservation(tenantOfCommand(call, undefined, which.tenant), which.id);
  return answered(result, 200, ({ reservation }) => reservationAnswer(reservation, reservation.position));
};
