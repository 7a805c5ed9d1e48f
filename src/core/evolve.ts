import { EMPTY_BUCKETS, EXPIRED, addPosting } from '../../events/index.js';
import type { DataOf, LedgerEvent, UnitAmount } from '../../events/index.js';
import { fundingKey, maxCostKey, referenceKey, reservationKey } from './state.js';
import type { Funding, LedgerState, Reservation } from './state.js';

/** Folds one event into the state. Postings are only added up: what they mean was settled when the event was made. */
export const evolve = (state: LedgerState, event: LedgerEvent): void => {
  fold(state, event);
  for (const posting of event.data.postings) {
    const account = state.accounts.get(posting.account);
    if (account === undefined) throw new Error(`The log posts to ${posting.account} before it was opened.`);
    state.accounts.set(posting.account, { ...account, ...addPosting(account, posting), position: event.position });
  }
};

const fold = (state: LedgerState, event: LedgerEvent): void => {
  switch (event.name) {
    case 'AccountOpened':
      return openAccount(state, event, event.data);
    case 'Reserved':
      return open(state, event, event.data);
    case 'Finalized':
      return finalize(state, event, event.data);
    case 'Refunded':
      return change(state, reservationKey(event.tenant, event.data.reservation_id), {
        state: 'refunded',
        reason: event.data.reason,
        closedPosition: event.position,
      });
    case 'Extended':
      return change(state, reservationKey(event.tenant, event.data.reservation_id), {
        expiresAtMs: Date.parse(event.data.expires_at),
      });
    case 'Recharged':
      return recharge(state, event, event.data);
    case 'Adjusted':
      return adjust(state, event, event.data);
    case 'MaxCostRaised':
      noteRaise(state, reservationKey(event.tenant, event.data.reservation_id), event.data);
      return setMaxCost(state, event.data);
    case 'MaxCostSet':
      return setMaxCost(state, event.data);
  }
};

const openAccount = (state: LedgerState, event: LedgerEvent, data: DataOf<'AccountOpened'>): void => {
  state.accounts.set(data.account, {
    ...EMPTY_BUCKETS,
    account: data.account,
    tenant: event.tenant,
    unit: data.unit,
    scale: data.scale,
    overdraftLimit: data.overdraft_limit,
    exempt: data.exempt,
    ...(data.metadata === undefined ? {} : { metadata: data.metadata }),
    position: event.position,
  });
};

/** One amount for each unit among the postings; the accounts of a unit all bear the same. */
const perUnit = (data: DataOf<'Reserved' | 'Finalized'>, bucket: 'held' | 'used'): UnitAmount[] => {
  const units = new Map(data.postings.map((p) => [p.unit, p[bucket]]));
  return [...units].map(([unit, amount]) => ({ unit, amount }));
};

const open = (state: LedgerState, event: LedgerEvent, data: DataOf<'Reserved'>): void => {
  state.reservations.set(reservationKey(event.tenant, data.reservation_id), {
    tenant: event.tenant,
    id: data.reservation_id,
    state: 'open',
    opened: true,
    accounts: data.postings.map(({ account, unit }) => ({ account, unit })),
    held: perUnit(data, 'held'),
    requested: data.requested,
    ...(data.model === undefined ? {} : { model: data.model }),
    ttlSeconds: data.ttl_seconds,
    level: data.level,
    expiresAtMs: Date.parse(data.expires_at),
    position: event.position,
    ...(data.metadata === undefined ? {} : { metadata: data.metadata }),
  });
};

const finalize = (state: LedgerState, event: LedgerEvent, data: DataOf<'Finalized'>): void => {
  const cost = perUnit(data, 'used');
  if (data.raise_pending) notePending(state, data, cost);
  const closed = { state: 'finalized', closedPosition: event.position, cost, late: data.late } as const;
  const key = reservationKey(event.tenant, data.reservation_id);
  if (!data.cold) return change(state, key, closed);
  state.reservations.set(key, {
    ...closed,
    tenant: event.tenant,
    id: data.reservation_id,
    opened: false,
    accounts: data.postings.map(({ account, unit }) => ({ account, unit })),
    held: [],
    requested: [],
    ...(data.model === undefined ? {} : { model: data.model }),
    ttlSeconds: 0,
    level: 'durable',
    expiresAtMs: event.timeMs,
    position: event.position,
    ...(data.metadata === undefined ? {} : { metadata: data.metadata }),
  });
};

const notePending = (state: LedgerState, { model }: DataOf<'Finalized'>, cost: readonly UnitAmount[]): void => {
  for (const { unit, amount } of cost) {
    const known = model === undefined ? undefined : state.maxCosts.get(maxCostKey(model, unit));
    if (known === undefined || amount <= (known.pending ?? known.amount)) continue;
    state.maxCosts.set(maxCostKey(known.model, unit), { ...known, pending: amount });
  }
};

const change = (state: LedgerState, key: string, changes: Partial<Reservation>): void => {
  const before = state.reservations.get(key);
  if (before === undefined) throw new Error(`The log changes reservation ${key} before it was opened.`);
  state.reservations.set(key, { ...before, ...changes });
};

const recharge = (state: LedgerState, event: LedgerEvent, data: DataOf<'Recharged'>): void => {
  const funding: Funding = {
    tenant: event.tenant,
    id: data.recharge_id,
    kind: 'recharge',
    account: data.account,
    amount: data.amount,
    ...(data.reference === undefined ? {} : { reference: data.reference }),
    position: event.position,
  };
  state.fundings.set(fundingKey(event.tenant, 'recharge', data.recharge_id), funding);
  if (data.reference !== undefined) state.references.set(referenceKey(event.tenant, data.reference), funding);
};

const adjust = (state: LedgerState, event: LedgerEvent, data: DataOf<'Adjusted'>): void => {
  state.fundings.set(fundingKey(event.tenant, 'adjust', data.adjustment_id), {
    tenant: event.tenant,
    id: data.adjustment_id,
    kind: 'adjust',
    account: data.account,
    amount: data.amount,
    reason: data.reason,
    position: event.position,
  });
};

/** A replayed finalize answers as the first one did, with the raise that it caused. */
const noteRaise = (state: LedgerState, key: string, { unit, amount }: DataOf<'MaxCostRaised'>): void => {
  const reservation = state.reservations.get(key);
  if (reservation === undefined) return;
  state.reservations.set(key, { ...reservation, raised: [...(reservation.raised ?? []), { unit, amount }] });
};

const setMaxCost = (state: LedgerState, data: DataOf<'MaxCostRaised' | 'MaxCostSet'>): void => {
  const key = maxCostKey(data.model, data.unit);
  const before = state.maxCosts.get(key);
  if (before !== undefined && before.revision >= data.revision) return;
  // A raise does not answer a higher one that waits for an operator; only an operator's word does.
  const pending = 'reservation_id' in data && before?.pending !== undefined && before.pending > data.amount;
  const { model, unit, amount, revision } = data;
  state.maxCosts.set(key, { model, unit, amount, revision, ...(pending ? { pending: before.pending } : {}) });
};

/** True when the reservation was given back by the sweeper, not by a caller: a finalize may still come, late. */
export const isExpired = (reservation: Reservation): boolean =>
  reservation.state === 'refunded' && reservation.reason === EXPIRED;
