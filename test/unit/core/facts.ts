/**
 * What has happened, for the sentences of the tests: one maker an event. The postings stand here as the design's table
 * has them (section 1) and not as `postingOf` makes them, so that the tests do not take the code's word for it.
 */
import type { DataOf, EventName, EventPayload, HoldPolicy, Level, Posting, UnitAmount } from '../../../events/index.js';

/** When every story starts: its commands come at this time unless they say otherwise. */
export const START_MS = Date.UTC(2026, 0, 1);
/** So many seconds into the story, in ms. */
export const after = (seconds: number): number => START_MS + seconds * 1000;
const textOf = (ms: number): string => new Date(ms).toISOString();

export interface Fact {
  readonly tenant: string;
  readonly subject: string;
  readonly payload: EventPayload;
}

/** What one account of a reservation has to do with it. */
export interface Share {
  readonly account: string;
  readonly unit?: string;
  readonly amount: bigint;
}

export const WALLET = 'acme';

const fact = <N extends EventName>(name: N, subject: string, data: DataOf<N>, tenant = WALLET): Fact => ({
  tenant,
  subject,
  payload: { name, data } as unknown as EventPayload,
});

const posting = (account: string, unit: string, buckets: readonly [bigint, bigint, bigint, bigint]): Posting => {
  const [available, held, used, funded] = buckets;
  return { account, unit, available, held, used, funded };
};

export const opened = (of: Partial<DataOf<'AccountOpened'>> & { readonly tenant?: string } = {}): Fact => {
  const { tenant, ...data } = of;
  const account = data.account ?? WALLET;
  const full = { account, unit: 'USD', scale: 6, overdraft_limit: 0n, exempt: false, ...data, postings: [] };
  return fact('AccountOpened', account, full, tenant ?? WALLET);
};

interface Funded {
  readonly id?: string;
  readonly account?: string;
  readonly unit?: string;
  readonly reference?: string;
}

/** Recharged x: available +x, funded −x. */
export const recharged = (x: bigint, { id = 'paid-1', account = WALLET, unit = 'USD', ...more }: Funded = {}): Fact =>
  fact('Recharged', account, {
    recharge_id: id,
    account,
    unit,
    amount: x,
    ...more,
    postings: [posting(account, unit, [x, 0n, 0n, -x])],
  });

export const adjusted = (x: bigint, { id = 'adjust-1', account = WALLET, unit = 'USD' }: Funded = {}): Fact =>
  fact('Adjusted', account, {
    adjustment_id: id,
    account,
    unit,
    amount: x,
    reason: 'wrong invoice',
    postings: [posting(account, unit, [x, 0n, 0n, -x])],
  });

export interface ReservationFact {
  readonly id?: string;
  /** Default: the wallet, 60. */
  readonly shares?: readonly Share[];
  readonly amount?: bigint;
  readonly model?: string;
}

const namesOf = ({ id = 'r1', shares: given, amount = 60n, model }: ReservationFact) => {
  const shares = (given ?? [{ account: WALLET, amount }]).map((s) => ({ unit: 'USD', ...s }));
  const [first] = shares;
  if (first === undefined) throw new Error('A reservation has an account.');
  const names = {
    reservation_id: id,
    ...first,
    accounts: shares.map((s) => s.account),
    ...(model === undefined ? {} : { model }),
  };
  return { first, shares, names };
};

interface ReservedFact extends ReservationFact {
  readonly requested?: readonly UnitAmount[];
  readonly policy?: HoldPolicy;
  readonly ttl?: number;
  readonly level?: Level;
}

/** Reserved m: available −m, held +m. */
export const reserved = (of: ReservedFact = {}): Fact => {
  const { first, shares, names } = namesOf(of);
  const ttl = of.ttl ?? 600;
  return fact('Reserved', first.account, {
    ...names,
    requested: of.requested ?? [{ unit: first.unit, amount: first.amount }],
    hold_policy: of.policy ?? 'larger',
    ttl_seconds: ttl,
    expires_at: textOf(after(ttl)),
    level: of.level ?? 'durable',
    postings: shares.map(({ account, unit, amount: m }) => posting(account, unit, [-m, m, 0n, 0n])),
  });
};

interface FinalizedFact extends ReservationFact {
  /** What each account's hold was: 0 (the default) when there is none to close. */
  readonly closing?: bigint;
  readonly late?: boolean;
  readonly cold?: boolean;
  readonly pending?: boolean;
  readonly usage?: Readonly<Record<string, number>>;
}

/** Finalized a, closing a hold of m: available m−a, held −m, used +a. With no hold to close: available −a, used +a. */
export const finalized = (of: FinalizedFact = {}): Fact => {
  const { first, shares, names } = namesOf(of);
  const m = of.closing ?? 0n;
  return fact('Finalized', first.account, {
    ...names,
    released: m - first.amount,
    late: of.late ?? false,
    cold: of.cold ?? false,
    raise_pending: of.pending ?? false,
    ...(of.usage === undefined ? {} : { usage: of.usage }),
    postings: shares.map(({ account, unit, amount: a }) => posting(account, unit, [m - a, -m, a, 0n])),
  });
};

/** Refunded: available +m, held −m. */
export const refunded = (of: ReservationFact & { readonly reason?: string } = {}): Fact => {
  const { first, shares, names } = namesOf(of);
  return fact('Refunded', first.account, {
    ...names,
    reason: of.reason ?? 'failed',
    postings: shares.map(({ account, unit, amount: m }) => posting(account, unit, [m, -m, 0n, 0n])),
  });
};

interface ExtendedFact extends ReservationFact {
  readonly ttl: number;
  readonly fromMs?: number;
  readonly toMs: number;
}

export const extended = (of: ExtendedFact): Fact => {
  const { first, names } = namesOf(of);
  return fact('Extended', first.account, {
    ...names,
    ttl_seconds: of.ttl,
    previous_expires_at: textOf(of.fromMs ?? after(600)),
    expires_at: textOf(of.toMs),
    postings: [],
  });
};

interface MaxCostFact {
  readonly model?: string;
  readonly unit?: string;
  readonly amount: bigint;
  readonly previous?: bigint;
  readonly revision?: number;
}

const maxCost = ({ model = 'gpt', unit = 'USD', amount, previous, revision = 1 }: MaxCostFact) => ({
  model,
  unit,
  amount,
  ...(previous === undefined ? {} : { previous }),
  revision,
});

export const maxCostSet = (of: MaxCostFact): Fact =>
  fact('MaxCostSet', of.model ?? 'gpt', { ...maxCost(of), postings: [] }, '@holdfast');

export const maxCostRaised = (of: MaxCostFact & { readonly by?: string }): Fact =>
  fact('MaxCostRaised', of.model ?? 'gpt', { ...maxCost(of), reservation_id: of.by ?? 'r1', postings: [] });
