import { Amount } from './amount.js';
import { Identifier, UnitName } from './identifier.js';
import { Metadata } from './metadata.js';
import { Postings } from './posting.js';
import { Schema, member, optionalMember } from './schema.js';

/** An account exists from here on; every bucket is 0. */
export const AccountOpened = Schema.Struct({
  account: Identifier,
  unit: UnitName,
  scale: member(
    Schema.Int.pipe(Schema.between(0, 18)),
    'Decimal places of the smallest part: 6 means that 1000000 is one unit',
  ),
  overdraft_limit: member(Amount, 'How far below zero a reserve may take `available`'),
  exempt: member(Schema.Boolean, 'An exempt account is never refused; its usage is still recorded'),
  metadata: optionalMember(Metadata, "The caller's own JSON"),
  postings: Postings,
}).annotations({
  identifier: 'AccountOpened',
  description: 'An account exists from here on; every bucket is 0',
});
export type AccountOpened = typeof AccountOpened.Type;
