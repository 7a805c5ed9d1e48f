import { Amount } from './amount.js';
import { Identifier, UnitName } from './identifier.js';
import { Metadata } from './metadata.js';
import { Postings } from './posting.js';
import { Schema } from './schema.js';

/** A customer paid in. */
export const Recharged = Schema.Struct({
  recharge_id: Identifier,
  account: Identifier,
  unit: UnitName,
  amount: Amount,
  /** The payment's own name (an invoice, a charge id); counts once in a tenant. */
  reference: Schema.optionalWith(Identifier, { exact: true }),
  metadata: Schema.optionalWith(Metadata, { exact: true }),
  postings: Postings,
}).annotations({ identifier: 'Recharged' });
export type Recharged = typeof Recharged.Type;

/** An operator corrected a balance, upward or downward. */
export const Adjusted = Schema.Struct({
  adjustment_id: Identifier,
  account: Identifier,
  unit: UnitName,
  amount: Amount,
  reason: Schema.String.pipe(Schema.minLength(1), Schema.maxLength(500)),
  metadata: Schema.optionalWith(Metadata, { exact: true }),
  postings: Postings,
}).annotations({ identifier: 'Adjusted' });
export type Adjusted = typeof Adjusted.Type;
