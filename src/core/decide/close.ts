import { EXPIRED, postingOf } from '../../../events/index.js';
import type { Posting } from '../../../events/index.js';
import type { Expire, Extend, Refund } from '../command.js';
import { reservationKey } from '../state.js';
import type { LedgerState, Reservation } from '../state.js';
import { amountIn, findOverflow } from './amounts.js';
import { reject } from './decision.js';
import type { Draft, Verdict } from './decision.js';
import { reservationAfter } from './reserve.js';

/** A refund gives the hold back, once. A second refund, whatever its reason, is a replay; after a finalize it is a conflict. */
export const decideRefund = (state: LedgerState, command: Refund): Verdict => {
  const known = state.reservations.get(reservationKey(command.tenant, command.id));
  if (known === undefined) return reject({ code: 'reservation_not_found', id: command.id });
  if (known.state === 'finalized') return reject({ code: 'reservation_finalized', id: command.id });
  if (known.state === 'refunded') return replayOf(known, known.closedPosition);
  return giveBack(state, known, command.reason);
};

/** The sweeper's refund. It looks again, under the lock: another may have closed or extended the reservation since. */
export const decideExpire = (state: LedgerState, command: Expire, nowMs: number): Verdict => {
  const known = state.reservations.get(reservationKey(command.tenant, command.id));
  if (known === undefined) return reject({ code: 'reservation_not_found', id: command.id });
  if (known.state !== 'open' || known.expiresAtMs > nowMs) return replayOf(known, known.closedPosition);
  return giveBack(state, known, EXPIRED);
};

/** Expiry only moves forward: an extend to an earlier time changes nothing and is no error. */
export const decideExtend = (state: LedgerState, command: Extend, nowMs: number): Verdict => {
  const known = state.reservations.get(reservationKey(command.tenant, command.id));
  if (known === undefined) return reject({ code: 'reservation_not_found', id: command.id });
  if (known.state === 'finalized') return reject({ code: 'reservation_finalized', id: command.id });
  if (known.state === 'refunded')
    return reject({ code: 'reservation_refunded', id: command.id, reason: known.reason ?? '' });
  const expiresAtMs = nowMs + command.ttlSeconds * 1000;
  if (expiresAtMs <= known.expiresAtMs) return replayOf(known, undefined);
  const data = {
    ...namesOf(known),
    ttl_seconds: command.ttlSeconds,
    previous_expires_at: new Date(known.expiresAtMs).toISOString(),
    expires_at: new Date(expiresAtMs).toISOString(),
    postings: [],
  };
  return writing(state, known, { tenant: known.tenant, subject: data.account, payload: { name: 'Extended', data } });
};

const giveBack = (state: LedgerState, known: Reservation, reason: string): Verdict => {
  const postings: Posting[] = known.accounts.map((place) =>
    postingOf.giveBack(place, amountIn(known.held, place.unit) ?? 0n),
  );
  const overflow = findOverflow(state, postings);
  if (overflow !== undefined) return reject(overflow);
  const data = {
    ...namesOf(known),
    reason,
    ...(known.metadata === undefined ? {} : { metadata: known.metadata }),
    postings,
  };
  return writing(state, known, { tenant: known.tenant, subject: data.account, payload: { name: 'Refunded', data } });
};

const namesOf = (known: Reservation) => {
  const [first] = known.accounts;
  if (first === undefined) throw new Error('A reservation has at least one account.');
  return {
    reservation_id: known.id,
    account: first.account,
    unit: first.unit,
    amount: amountIn(known.held, first.unit) ?? 0n,
    accounts: known.accounts.map((a) => a.account),
    ...(known.model === undefined ? {} : { model: known.model }),
  };
};

const writing = (state: LedgerState, known: Reservation, draft: Draft): Verdict => ({
  kind: 'write',
  drafts: [draft],
  answer: () => ({ kind: 'reservation', reservation: reservationAfter(state, known.tenant, known.id) }),
});

const replayOf = (known: Reservation, position: number | undefined): Verdict => ({
  kind: 'replay',
  position: position ?? known.position,
  answer: { kind: 'reservation', reservation: known },
});
