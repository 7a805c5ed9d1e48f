import { EXPIRED } from '../../../events/index.js';
import type { UnitAmount } from '../../../events/index.js';
import type { Reservation } from '../../core/state.js';
import type { FinalizedAnswer, ReservationAnswer } from '../schemas/reservation.js';
import { amountsOf, someAmounts } from './amounts.js';

/** A reservation as it is now; `amounts` is what was held. `position` is where the command's own event stands. */
export const reservationAnswer = (reservation: Reservation, position: number): ReservationAnswer => ({
  ...common(reservation),
  amounts: amountsOf(reservation.held),
  expires_at: new Date(reservation.expiresAtMs).toISOString(),
  position,
  cost: someAmounts(reservation.cost),
  ...closing(reservation),
  reason: reservation.state === 'refunded' ? reservation.reason : undefined,
  metadata: reservation.metadata,
});

/** A finalized reservation; `amounts` is what was charged. */
export const finalizedAnswer = (reservation: Reservation, position: number): FinalizedAnswer => ({
  ...common(reservation),
  amounts: amountsOf(reservation.cost ?? []),
  ...closing(reservation),
  position,
});

const common = ({ id, state, accounts, model }: Reservation) => ({
  id,
  state,
  accounts: accounts.map((a) => a.account),
  model,
});

const closing = (reservation: Reservation) => ({
  released: releasedOf(reservation),
  late: reservation.late,
  max_cost_raised: someAmounts(reservation.raised),
});

/** What the finalize gave back of the hold: hold − cost. After an expiry there was no hold left, nor is there a cold one's. */
const releasedOf = ({ cost, held, reason }: Reservation): Readonly<Record<string, string>> | undefined => {
  if (cost === undefined) return undefined;
  const closed: readonly UnitAmount[] = reason === EXPIRED ? [] : held;
  return amountsOf(
    cost.map(({ unit, amount }) => ({
      unit,
      amount: (closed.find((h) => h.unit === unit)?.amount ?? 0n) - amount,
    })),
  );
};
