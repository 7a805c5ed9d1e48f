import { Amount } from './amount.js';
import { Identifier, UnitName } from './identifier.js';
import { Schema } from './schema.js';

/** The four buckets of an account, in the order in which they are written everywhere. */
export const BUCKETS = ['available', 'held', 'used', 'funded'] as const;
export type Bucket = (typeof BUCKETS)[number];

/** Per account, signed amounts that sum to zero: what an event does to the buckets. */
export const Posting = Schema.Struct({
  account: Identifier,
  unit: UnitName,
  available: Amount,
  held: Amount,
  used: Amount,
  funded: Amount,
}).annotations({ identifier: 'Posting', description: 'What an event does to one account: the four amounts sum to 0' });
export type Posting = typeof Posting.Type;

export const Postings = Schema.Array(Posting);

/** What an account holds, per bucket, in the unit's smallest part. */
export type Buckets = Readonly<Record<Bucket, bigint>>;

export const EMPTY_BUCKETS: Buckets = { available: 0n, held: 0n, used: 0n, funded: 0n };

/** Adds a posting to an account's buckets. It does not check the range: whoever makes an event does. */
export const addPosting = (to: Buckets, posting: Buckets): Buckets => ({
  available: to.available + posting.available,
  held: to.held + posting.held,
  used: to.used + posting.used,
  funded: to.funded + posting.funded,
});

/** The sum over the four buckets. It is 0 for every posting and for every account at every prefix of the log. */
export const sumOf = (buckets: Buckets): bigint => buckets.available + buckets.held + buckets.used + buckets.funded;

interface Place {
  readonly account: string;
  readonly unit: string;
}

/** The postings table of the design (section 1), one function a row. Amounts in the unit's smallest part. */
export const postingOf = {
  /** Recharged x, Adjusted x: money comes in (or goes out, for a negative x). */
  funding: ({ account, unit }: Place, x: bigint): Posting => ({
    account,
    unit,
    available: x,
    held: 0n,
    used: 0n,
    funded: -x,
  }),
  /** Reserved m. */
  hold: ({ account, unit }: Place, m: bigint): Posting => ({
    account,
    unit,
    available: -m,
    held: m,
    used: 0n,
    funded: 0n,
  }),
  /** Finalized a, closing a hold of m; m is 0 when there is no hold to close (cold, or after expiry). */
  close: ({ account, unit }: Place, m: bigint, a: bigint): Posting => ({
    account,
    unit,
    available: m - a,
    held: -m,
    used: a,
    funded: 0n,
  }),
  /** Refunded: the hold of m goes back. */
  giveBack: ({ account, unit }: Place, m: bigint): Posting => ({
    account,
    unit,
    available: m,
    held: -m,
    used: 0n,
    funded: 0n,
  }),
} as const;
