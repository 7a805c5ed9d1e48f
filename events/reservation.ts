import { Amount } from './amount.js';
import { Identifier, Timestamp, UnitName } from './identifier.js';
import { Metadata } from './metadata.js';
import { Postings } from './posting.js';
import { Schema } from './schema.js';

/** How sure an acknowledgement is (design, section 2). `fast` has its place here and is not yet granted. */
export const LEVELS = ['durable', 'replicated', 'fast'] as const;
export const Level = Schema.Literal(...LEVELS);
export type Level = typeof Level.Type;

/** Whose amount is held: the caller's, the model's max_cost, or the larger of the two. */
export const HOLD_POLICIES = ['larger', 'caller', 'model'] as const;
export const HoldPolicy = Schema.Literal(...HOLD_POLICIES);
export type HoldPolicy = typeof HoldPolicy.Type;

/** One amount for each unit; every account of that unit bears it. */
export const UnitAmount = Schema.Struct({ unit: UnitName, amount: Amount }).annotations({ identifier: 'UnitAmount' });
export type UnitAmount = typeof UnitAmount.Type;

/** The accounts of a reservation: `account`, `unit` and `amount` repeat the first one flat, for those who read one row. */
const common = {
  reservation_id: Identifier,
  account: Identifier,
  unit: UnitName,
  amount: Amount,
  accounts: Schema.Array(Identifier),
  model: Schema.optionalWith(Identifier, { exact: true }),
} as const;

/** The most that a request can cost is set aside. */
export const Reserved = Schema.Struct({
  ...common,
  /** What the caller asked for; empty when it left the amount to the model. */
  requested: Schema.Array(UnitAmount),
  hold_policy: HoldPolicy,
  ttl_seconds: Schema.Int.pipe(Schema.positive()),
  expires_at: Timestamp,
  level: Level,
  metadata: Schema.optionalWith(Metadata, { exact: true }),
  postings: Postings,
}).annotations({ identifier: 'Reserved' });
export type Reserved = typeof Reserved.Type;

/** Tokens by kind, as the model's provider reported them. Not money. */
export const Usage = Schema.Record({ key: Schema.String, value: Schema.Int.pipe(Schema.nonNegative()) }).annotations({
  identifier: 'Usage',
});
export type Usage = typeof Usage.Type;

/** The request ran and cost `amount`. */
export const Finalized = Schema.Struct({
  ...common,
  /** What of the first account's hold went back (negative: the cost beat the hold). */
  released: Amount,
  /** It came after the reservation had expired. */
  late: Schema.Boolean,
  /** No reservation had been made under this id. */
  cold: Schema.Boolean,
  /** The cost beat max_cost by more than the allowed factor: charged, but the raise waits for an operator. */
  raise_pending: Schema.Boolean,
  usage: Schema.optionalWith(Usage, { exact: true }),
  metadata: Schema.optionalWith(Metadata, { exact: true }),
  postings: Postings,
}).annotations({ identifier: 'Finalized' });
export type Finalized = typeof Finalized.Type;

/** The reason that the expiry sweeper gives; no caller may. */
export const EXPIRED = 'expired';

/** The hold went back: the request failed, was cancelled, or nobody answered for it in time. */
export const Refunded = Schema.Struct({
  ...common,
  reason: Schema.String.pipe(Schema.pattern(/^[a-z][a-z0-9_]{0,63}$/)),
  metadata: Schema.optionalWith(Metadata, { exact: true }),
  postings: Postings,
}).annotations({ identifier: 'Refunded' });
export type Refunded = typeof Refunded.Type;

/** The reservation expires later than it did. */
export const Extended = Schema.Struct({
  ...common,
  ttl_seconds: Schema.Int.pipe(Schema.positive()),
  previous_expires_at: Timestamp,
  expires_at: Timestamp,
  postings: Postings,
}).annotations({ identifier: 'Extended' });
export type Extended = typeof Extended.Type;
