import { Amount } from './amount.js';
import { Identifier, UnitName } from './identifier.js';
import { Metadata } from './metadata.js';
import { Postings } from './posting.js';
import { Schema } from './schema.js';

/** An account exists from here on; every bucket is 0. */
export const AccountOpened = Schema.Struct({
  account: Identifier,
  unit: UnitName,
  /** Decimal places of the smallest part: 6 means that 1000000 is one unit. */
  scale: Schema.Int.pipe(Schema.between(0, 18)),
  /** How far below zero a reserve may take `available`. */
  overdraft_limit: Amount,
  /** An exempt account is never refused; its usage is still recorded. */
  exempt: Schema.Boolean,
  metadata: Schema.optionalWith(Metadata, { exact: true }),
  postings: Postings,
}).annotations({ identifier: 'AccountOpened' });
export type AccountOpened = typeof AccountOpened.Type;
