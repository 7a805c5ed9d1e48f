import { Amount } from './amount.js';
import { Identifier, UnitName } from './identifier.js';
import { Metadata } from './metadata.js';
import { Postings } from './posting.js';
import { Schema, boundedText, member, optionalMember } from './schema.js';

/** A customer paid in. */
export const Recharged = Schema.Struct({
  recharge_id: member(Identifier, "The caller's id of this recharge: counts once in a tenant"),
  account: Identifier,
  unit: UnitName,
  amount: Amount,
  reference: optionalMember(Identifier, "The payment's own name (an invoice, a charge id): counts once in a tenant"),
  metadata: optionalMember(Metadata, "The caller's own JSON"),
  postings: Postings,
}).annotations({ identifier: 'Recharged', description: 'A customer paid in' });
export type Recharged = typeof Recharged.Type;

/** An operator corrected a balance, upward or downward. */
export const Adjusted = Schema.Struct({
  adjustment_id: member(Identifier, "The operator's id of this adjustment: counts once in a tenant"),
  account: Identifier,
  unit: UnitName,
  amount: member(Amount, 'Signed: negative takes away'),
  reason: member(boundedText(1, 500), 'Why, in words'),
  metadata: optionalMember(Metadata, "The caller's own JSON"),
  postings: Postings,
}).annotations({ identifier: 'Adjusted', description: 'An operator corrected a balance' });
export type Adjusted = typeof Adjusted.Type;
