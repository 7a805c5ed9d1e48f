import type { EventPayload } from '../../../events/index.js';
import type { Rejection } from '../rejection.js';
import type { Account, Funding, MaxCost, Reservation } from '../state.js';

/** What an accepted command answers: the thing it was about, as it is now. */
export type Answer =
  | { readonly kind: 'account'; readonly account: Account }
  | { readonly kind: 'reservation'; readonly reservation: Reservation }
  | { readonly kind: 'funding'; readonly funding: Funding; readonly account: Account }
  | { readonly kind: 'max_cost'; readonly maxCosts: readonly MaxCost[] };

/**
 * What the ledger says to a command.
 * `position` is where its (first) event stands; for a replay, where the first one's stands.
 * `knownAt` of a rejected reserve: the id is known from that position on, so a speculation under it must be settled there.
 */
export type Decision =
  | { readonly outcome: 'done'; readonly replay: boolean; readonly position: number; readonly answer: Answer }
  | { readonly outcome: 'rejected'; readonly rejection: Rejection; readonly knownAt?: number };

/** An event before it has a place in the log. */
export interface Draft {
  readonly tenant: string;
  readonly subject: string;
  readonly payload: EventPayload;
}

/** Either the events to write, or an answer that needs none. */
export type Verdict =
  | { readonly kind: 'write'; readonly drafts: readonly [Draft, ...Draft[]]; readonly answer: () => Answer }
  | { readonly kind: 'replay'; readonly position: number; readonly answer: Answer }
  | { readonly kind: 'reject'; readonly rejection: Rejection; readonly knownAt?: number };

/** A verdict that says no. `knownAt`: see Decision. */
export const reject = (rejection: Rejection, knownAt?: number): Verdict => ({
  kind: 'reject',
  rejection,
  ...(knownAt === undefined ? {} : { knownAt }),
});
