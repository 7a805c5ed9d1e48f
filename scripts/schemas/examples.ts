import { genesisHash, postingOf, seal } from '../../events/index.js';
import type { EventName, EventPayload, Posting, StoredEvent } from '../../events/index.js';

/** The ledger and partition of the examples. */
export const EXAMPLE_LEDGER = '0190b6a4-7c1e-7d5a-9a63-5f2f0f6f3b11';
export const EXAMPLE_PARTITION = 7;

const wallet = { account: 'acme', unit: 'USD' } as const;
const quota = { account: 'acme/keys/ci', unit: 'TOK' } as const;
const TIME_MS = Date.parse('2026-03-01T12:00:00.000Z');
const at = (afterMs: number): string => new Date(TIME_MS + afterMs).toISOString();

const reservation = {
  reservation_id: '0190b6a5-0000-7000-8000-000000000001',
  ...wallet,
  accounts: [wallet.account, quota.account],
  model: 'gpt-4o',
} as const;

const holds: readonly Posting[] = [postingOf.hold(wallet, 65_000n), postingOf.hold(quota, 4_000n)];

/** One customer's afternoon: each event of the catalogue at least once. Amounts in micro-dollars and tokens. */
const STORY: readonly EventPayload[] = [
  {
    name: 'AccountOpened',
    data: { ...wallet, scale: 6, overdraft_limit: 0n, exempt: false, metadata: { plan: 'pro', name: 'Acmé "ß" 雪' }, postings: [] },
  },
  { name: 'AccountOpened', data: { ...quota, scale: 0, overdraft_limit: 0n, exempt: false, postings: [] } },
  {
    name: 'Recharged',
    data: {
      recharge_id: 'pay-1',
      ...wallet,
      amount: 9_007_199_254_740_993n,
      reference: 'inv-2026-0001',
      postings: [postingOf.funding(wallet, 9_007_199_254_740_993n)],
    },
  },
  {
    name: 'Adjusted',
    data: {
      adjustment_id: 'adj-1',
      ...quota,
      amount: 100_000n,
      reason: 'first month free',
      postings: [postingOf.funding(quota, 100_000n)],
    },
  },
  {
    name: 'MaxCostSet',
    data: { model: 'gpt-4o', unit: 'USD', amount: 65_000n, revision: 1, postings: [] },
  },
  {
    name: 'Reserved',
    data: {
      ...reservation,
      amount: 65_000n,
      requested: [
        { unit: 'USD', amount: 50_000n },
        { unit: 'TOK', amount: 4_000n },
      ],
      hold_policy: 'larger',
      ttl_seconds: 600,
      expires_at: at(605_000),
      level: 'durable',
      metadata: { request: 'r-17', retries: 0 },
      postings: holds,
    },
  },
  {
    name: 'Extended',
    data: {
      ...reservation,
      amount: 65_000n,
      ttl_seconds: 1_200,
      previous_expires_at: at(605_000),
      expires_at: at(1_206_000),
      postings: [],
    },
  },
  {
    name: 'Finalized',
    data: {
      ...reservation,
      amount: 81_250n,
      released: -16_250n,
      late: false,
      cold: false,
      raise_pending: false,
      usage: { prompt_tokens: 2_100, completion_tokens: 1_150, cached_tokens: 512 },
      postings: [postingOf.close(wallet, 65_000n, 81_250n), postingOf.close(quota, 4_000n, 3_250n)],
    },
  },
  {
    name: 'MaxCostRaised',
    data: {
      model: 'gpt-4o',
      unit: 'USD',
      amount: 81_250n,
      previous: 65_000n,
      revision: 2,
      reservation_id: reservation.reservation_id,
      postings: [],
    },
  },
  {
    name: 'Refunded',
    data: {
      ...reservation,
      reservation_id: '0190b6a5-0000-7000-8000-000000000002',
      amount: 65_000n,
      reason: 'expired',
      postings: [postingOf.giveBack(wallet, 65_000n), postingOf.giveBack(quota, 4_000n)],
    },
  },
];

const subjectOf = ({ data }: EventPayload): string => ('account' in data ? data.account : data.model);

/** The examples as the log holds them: one chain of ten events, from position 1 on. */
export const exampleChain = (): StoredEvent[] => {
  let prevHash = genesisHash(EXAMPLE_LEDGER, EXAMPLE_PARTITION);
  return STORY.map((payload, index) => {
    const place = {
      ledger: EXAMPLE_LEDGER,
      partition: EXAMPLE_PARTITION,
      position: index + 1,
      incarnation: 1,
      timeMs: TIME_MS + index * 1_000,
      tenant: 'acme',
      subject: subjectOf(payload),
    };
    const traced = payload.name === 'Reserved' ? { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' } : {};
    const stored = seal({ ...place, ...traced, ...payload }, prevHash);
    prevHash = stored.hash;
    return stored;
  });
};

/** The first example of an event. */
export const exampleOf = (name: EventName): StoredEvent => {
  const example = exampleChain().find(({ event }) => event.name === name);
  if (example === undefined) throw new Error(`There is no example of ${name}.`);
  return example;
};
