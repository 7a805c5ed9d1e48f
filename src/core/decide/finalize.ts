import { postingOf } from '../../../events/index.js';
import type { Finalized } from '../../../events/index.js';
import type { Finalize } from '../command.js';
import { isExpired } from '../evolve.js';
import { maxCostKey, reservationKey } from '../state.js';
import type { LedgerState, Reservation } from '../state.js';
import { amountIn, describe, findAccounts, findOverflow, resolveUnits, sameAmounts } from './amounts.js';
import { reject } from './decision.js';
import type { Draft, Verdict } from './decision.js';
import { reservationAfter } from './reserve.js';

/** What is to be charged where, and what of it closes a hold. */
interface Charge {
  readonly places: readonly { readonly account: string; readonly unit: string }[];
  readonly cost: ReadonlyMap<string, bigint>;
  readonly model?: string;
  readonly late: boolean;
  /** The reservation whose hold it closes or that expired; absent for a cold one. */
  readonly reservation?: Reservation;
}

/**
 * A finalize charges the whole real cost, also below zero, also after expiry (the inference did run).
 * Above max_cost it raises it, in the same transaction; above `raiseFactor` × max_cost it charges and leaves the raise to an operator.
 */
export const decideFinalize = (state: LedgerState, command: Finalize, nowMs: number, raiseFactor: bigint): Verdict => {
  const known = state.reservations.get(reservationKey(command.tenant, command.id));
  if (known === undefined) return decideCold(state, command, raiseFactor);
  const difference = differenceOf(known, command);
  if (difference !== undefined) return reject({ code: 'id_reused', id: command.id, ...difference });
  if (known.state === 'refunded' && !isExpired(known))
    return reject({ code: 'reservation_refunded', id: command.id, reason: known.reason ?? '' });
  const cost = resolveCost(command, known.accounts);
  if (known.state === 'finalized') return decideAgain(known, command, cost);
  if ('kind' in cost) return cost;
  const model = known.model ?? command.model;
  return charge(state, command, raiseFactor, {
    places: known.accounts,
    cost,
    ...(model === undefined ? {} : { model }),
    late: isExpired(known) || nowMs >= known.expiresAtMs,
    reservation: known,
  });
};

const decideCold = (state: LedgerState, command: Finalize, raiseFactor: bigint): Verdict => {
  if (command.accounts === undefined) return reject({ code: 'reservation_not_found', id: command.id });
  const accounts = findAccounts(state, command.tenant, command.accounts);
  if ('rejection' in accounts) return reject(accounts.rejection);
  const cost = resolveCost(command, accounts.ok);
  if ('kind' in cost) return cost;
  return charge(state, command, raiseFactor, {
    places: accounts.ok,
    cost,
    ...(command.model === undefined ? {} : { model: command.model }),
    late: false,
  });
};

/** Amounts that can't be read for its accounts differ from the recorded ones too. */
const decideAgain = (known: Reservation, command: Finalize, cost: ResolvedCost): Verdict => {
  const recorded = known.cost ?? [];
  if ('kind' in cost || !sameAmounts(recorded, cost))
    return reject({
      code: 'id_reused',
      id: command.id,
      field: command.cost.kind === 'by_unit' ? 'amounts' : 'amount',
      recorded: describe(recorded),
    });
  const position = known.closedPosition ?? known.position;
  return { kind: 'replay', position, answer: { kind: 'reservation', reservation: known } };
};

/** Accounts and model are optional once a reservation exists; given, they must be its own. */
const differenceOf = (known: Reservation, command: Finalize): { field: string; recorded: string } | undefined => {
  const names = known.accounts.map((a) => a.account);
  if (
    command.accounts !== undefined &&
    (names.length !== command.accounts.length || !command.accounts.every((name) => names.includes(name)))
  )
    return { field: 'accounts', recorded: names.join(', ') };
  if (command.model !== undefined && known.model !== undefined && command.model !== known.model)
    return { field: 'model', recorded: known.model };
  return undefined;
};

type ResolvedCost = ReadonlyMap<string, bigint> | Extract<Verdict, { kind: 'reject' }>;

const resolveCost = (command: Finalize, places: readonly { readonly unit: string }[]): ResolvedCost => {
  const units = places.map((p) => p.unit);
  const cost = resolveUnits(command.cost, units);
  if ('rejection' in cost) return { kind: 'reject', rejection: cost.rejection };
  const missing = units.find((unit) => !cost.ok.has(unit));
  return missing === undefined ? cost.ok : { kind: 'reject', rejection: { code: 'amount_missing', unit: missing } };
};

const charge = (state: LedgerState, command: Finalize, raiseFactor: bigint, what: Charge): Verdict => {
  const open = what.reservation?.state === 'open' ? what.reservation : undefined;
  const postings = what.places.map((place) =>
    postingOf.close(place, amountIn(open?.held ?? [], place.unit) ?? 0n, what.cost.get(place.unit) ?? 0n),
  );
  const overflow = findOverflow(state, postings);
  if (overflow !== undefined) return reject(overflow);
  const [first] = postings;
  if (first === undefined) throw new Error('A finalize charges at least one account.');
  const raises = raisesOf(state, command, raiseFactor, what);
  const metadata = command.metadata ?? what.reservation?.metadata;
  const data: Finalized = {
    reservation_id: command.id,
    account: first.account,
    unit: first.unit,
    amount: first.used,
    accounts: what.places.map((p) => p.account),
    ...(what.model === undefined ? {} : { model: what.model }),
    released: first.available,
    late: what.late,
    cold: what.reservation === undefined,
    raise_pending: raises.pending,
    ...(command.usage === undefined ? {} : { usage: command.usage }),
    ...(metadata === undefined ? {} : { metadata }),
    postings,
  };
  const draft: Draft = { tenant: command.tenant, subject: first.account, payload: { name: 'Finalized', data } };
  return {
    kind: 'write',
    drafts: [draft, ...raises.drafts],
    answer: () => ({ kind: 'reservation', reservation: reservationAfter(state, command.tenant, command.id) }),
  };
};

/** For each unit in which the cost beats what is known of the model: a raise, or a raise that waits. */
const raisesOf = (
  state: LedgerState,
  command: Finalize,
  raiseFactor: bigint,
  { model, cost }: Charge,
): { drafts: Draft[]; pending: boolean } => {
  const drafts: Draft[] = [];
  let pending = false;
  if (model === undefined) return { drafts, pending };
  for (const [unit, amount] of cost) {
    const known = state.maxCosts.get(maxCostKey(model, unit));
    if (amount <= (known?.amount ?? 0n)) continue;
    if (known !== undefined && amount > known.amount * raiseFactor) {
      pending = true;
      continue;
    }
    const data = {
      model,
      unit,
      amount,
      ...(known === undefined ? {} : { previous: known.amount }),
      revision: (known?.revision ?? 0) + 1,
      reservation_id: command.id,
      postings: [],
    };
    drafts.push({ tenant: command.tenant, subject: model, payload: { name: 'MaxCostRaised', data } });
  }
  return { drafts, pending };
};
