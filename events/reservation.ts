import { Amount } from './amount.js';
import { Identifier, Timestamp, UnitName } from './identifier.js';
import { Metadata } from './metadata.js';
import { Postings } from './posting.js';
import { Schema, member, optionalMember, wholeFrom } from './schema.js';

/** How sure an acknowledgement is (design, section 2). `fast` has its place here and is not yet granted. */
export const LEVELS = ['durable', 'replicated', 'fast'] as const;
export const Level = Schema.Literal(...LEVELS);
export type Level = typeof Level.Type;

/** Whose amount is held: the caller's, the model's max_cost, or the larger of the two. */
export const HOLD_POLICIES = ['larger', 'caller', 'model'] as const;
export const HoldPolicy = Schema.Literal(...HOLD_POLICIES);
export type HoldPolicy = typeof HoldPolicy.Type;

/** One amount for each unit; every account of that unit bears it. */
export const UnitAmount = Schema.Struct({ unit: UnitName, amount: Amount }).annotations({
  identifier: 'UnitAmount',
  description: 'An amount in one unit',
});
export type UnitAmount = typeof UnitAmount.Type;

/** The accounts of a reservation: `account`, `unit` and `amount` repeat the first one flat, for those who read one row. */
const common = {
  reservation_id: member(Identifier, "The caller's id, unique in its tenant"),
  account: member(Identifier, 'The first account'),
  unit: member(UnitName, "The first account's unit"),
  amount: member(Amount, 'What the event moves on the first account'),
  accounts: member(Schema.Array(Identifier), "All accounts, in the caller's order"),
  model: optionalMember(Identifier, 'The model that the request ran on'),
} as const;

/** The most that a request can cost is set aside. */
export const Reserved = Schema.Struct({
  ...common,
  requested: member(Schema.Array(UnitAmount), 'What the caller asked for; empty when it left the amount to the model'),
  hold_policy: member(HoldPolicy, "Whose amount is held: the caller's, the model's max_cost, or the larger"),
  ttl_seconds: member(wholeFrom(1), 'How long the hold lasts, from `time` on'),
  expires_at: member(Timestamp, 'When it is given back unless closed or extended'),
  level: member(Level, 'How sure the acknowledgement was to be'),
  metadata: optionalMember(Metadata, "The caller's own JSON"),
  postings: Postings,
}).annotations({
  identifier: 'Reserved',
  description: 'The most that a request can cost is set aside',
});
export type Reserved = typeof Reserved.Type;

/** Tokens by kind, as the model's provider reported them. Not money. */
export const Usage = Schema.Record({ key: Schema.String, value: wholeFrom(0) }).annotations({
  identifier: 'Usage',
  jsonSchema: {
    type: 'object',
    description: "Tokens by kind, as the model's provider reported them; not money",
    additionalProperties: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
});
export type Usage = typeof Usage.Type;

/** The request ran and cost `amount`. */
export const Finalized = Schema.Struct({
  ...common,
  released: member(Amount, "What of the first account's hold went back (negative: the cost beat the hold)"),
  late: member(Schema.Boolean, 'It came after the reservation had expired'),
  cold: member(Schema.Boolean, 'No reservation had been made under this id'),
  raise_pending: member(
    Schema.Boolean,
    'The cost beat max_cost by more than the allowed factor: charged, but the raise waits for an operator',
  ),
  usage: optionalMember(Usage, "Tokens by kind, as the model's provider reported them"),
  metadata: optionalMember(Metadata, "The caller's own JSON"),
  postings: Postings,
}).annotations({ identifier: 'Finalized', description: 'The request ran and cost `amount`' });
export type Finalized = typeof Finalized.Type;

/** The reason that the expiry sweeper gives; no caller may. */
export const EXPIRED = 'expired';

/** The hold went back: the request failed, was cancelled, or nobody answered for it in time. */
export const Refunded = Schema.Struct({
  ...common,
  reason: member(
    Schema.String.pipe(Schema.pattern(/^[a-z][a-z0-9_]{0,63}$/)),
    'failed, cancelled, … ; `expired` when nobody answered in time',
  ),
  metadata: optionalMember(Metadata, "The caller's own JSON"),
  postings: Postings,
}).annotations({ identifier: 'Refunded', description: 'The hold went back' });
export type Refunded = typeof Refunded.Type;

/** The reservation expires later than it did. */
export const Extended = Schema.Struct({
  ...common,
  ttl_seconds: member(wholeFrom(1), 'How long the hold lasts, from `time` on'),
  previous_expires_at: member(Timestamp, 'When it would have expired'),
  expires_at: member(Timestamp, 'When it expires now'),
  postings: Postings,
}).annotations({ identifier: 'Extended', description: 'The reservation expires later than it did' });
export type Extended = typeof Extended.Type;
