import type { Reserve } from '../core/command.js';
import { UnavailableError } from '../core/ports.js';
import type { Appended, HoldOutcome, Holds, Journal } from '../core/ports.js';
import type { Rejection } from '../core/rejection.js';
import type { Reservation } from '../core/state.js';

/** What a reserve came to, before the wait for a higher level. */
export type ReserveOutcome =
  | {
      readonly kind: 'granted';
      readonly reservation: Reservation;
      readonly position: number;
      readonly replay: boolean;
      readonly hash?: string;
    }
  | { readonly kind: 'rejected'; readonly rejection: Rejection };

export interface ReserveParts {
  readonly holds: Holds;
  readonly journal: Journal;
}

/**
 * The flow of a reserve (design, section 2): hold in Redis, append to the journal, and leave no speculation behind that
 * nobody answers for. Redis refuses fast and takes early; only the journal grants.
 * Raises UnavailableError.
 */
export const reserve = async (parts: ReserveParts, partition: number, command: Reserve): Promise<ReserveOutcome> => {
  const hold = await parts.holds.hold(partition, command);
  if (hold.kind === 'known') {
    const { reservation } = hold;
    return { kind: 'granted', reservation, position: reservation.position, replay: true };
  }
  if (hold.kind === 'refused') {
    const { account, unit, available, required } = hold;
    return { kind: 'rejected', rejection: { code: 'insufficient_quota', account, unit, available, required } };
  }
  const appended = await append(parts, partition, command, hold);
  await endSpeculation(parts.holds, partition, command, hold, appended);
  return outcomeOf(appended);
};

const append = async (
  { holds, journal }: ReserveParts,
  partition: number,
  command: Reserve,
  hold: HoldOutcome,
): Promise<Appended> => {
  try {
    return await journal.append(hold.kind === 'held' ? { ...command, settled: hold.amounts } : command);
  } catch (error) {
    // An unknown outcome keeps its speculation: should the commit have happened, the apply replaces it; else the sweeper gives it back.
    const surelyNot = !(error instanceof UnavailableError) || error.code !== 'outcome_unknown';
    if (surelyNot && (hold.kind === 'held' || hold.kind === 'unknown'))
      await holds.release(partition, command.tenant, command.id, hold.attempt);
    throw error;
  }
};

/** A granted reserve's speculation ends when its event is applied; every other one is ended here. */
const endSpeculation = async (
  holds: Holds,
  partition: number,
  { tenant, id }: Reserve,
  hold: HoldOutcome,
  { decision }: Appended,
): Promise<void> => {
  if (hold.kind !== 'held' && hold.kind !== 'unknown') return;
  if (decision.outcome === 'done') {
    if (decision.replay) await holds.settle(partition, tenant, id, decision.position);
  } else if (decision.knownAt !== undefined) await holds.settle(partition, tenant, id, decision.knownAt);
  else await holds.release(partition, tenant, id, hold.attempt);
};

const outcomeOf = ({ decision, events }: Appended): ReserveOutcome => {
  if (decision.outcome === 'rejected') return { kind: 'rejected', rejection: decision.rejection };
  if (decision.answer.kind !== 'reservation') throw new Error('A reserve was answered with something else.');
  const hash = events[0]?.hash;
  return {
    kind: 'granted',
    reservation: decision.answer.reservation,
    position: decision.position,
    replay: decision.replay,
    ...(hash === undefined ? {} : { hash }),
  };
};
