import { Schema } from '../../../events/schema.js';
import { AmountIn, AmountOut, Moment, Position, PositiveAmountIn, SignedAmountIn, Unit } from './amount.js';
import { AccountName, Id, MetadataBody, maybe } from './names.js';

export const OpenAccountBody = Schema.Struct({
  id: AccountName,
  unit: Unit,
  scale: maybe(
    Schema.Int.pipe(Schema.between(0, 18)).annotations({
      description: 'Decimal places of the smallest part, 0 to 18: at 6, 1000000 is one unit. Default 6.',
    }),
  ),
  overdraft_limit: maybe(AmountIn),
  exempt: maybe(Schema.Boolean.annotations({ description: 'Never refused; its usage is recorded all the same.' })),
  metadata: maybe(MetadataBody),
}).annotations({ identifier: 'OpenAccount' });
export type OpenAccountBody = typeof OpenAccountBody.Type;

const balance = {
  available: AmountOut,
  held: AmountOut,
  used: AmountOut,
  funded: AmountOut.annotations({
    description: 'What came in, counted downward: available + held + used + funded = 0, always.',
  }),
} as const;

export const AccountAnswer = Schema.Struct({
  id: AccountName,
  unit: Unit,
  scale: Schema.Int,
  ...balance,
  overdraft_limit: AmountOut,
  exempt: Schema.Boolean,
  metadata: maybe(MetadataBody),
  position: Position,
  as_of: maybe(Moment.annotations({ description: 'The moment of this balance; absent when the account was just opened.' })),
}).annotations({ identifier: 'Account' });
export type AccountAnswer = typeof AccountAnswer.Type;

export const RechargeBody = Schema.Struct({
  id: maybe(Id),
  amount: PositiveAmountIn,
  reference: maybe(Id.annotations({ description: "The payment's own name; counts once in a tenant." })),
  metadata: maybe(MetadataBody),
}).annotations({ identifier: 'Recharge' });
export type RechargeBody = typeof RechargeBody.Type;

export const AdjustmentBody = Schema.Struct({
  id: maybe(Id),
  amount: SignedAmountIn,
  reason: Schema.String.pipe(
    Schema.pattern(/\S/, { description: 'Why, in 1 to 500 characters.', jsonSchema: { pattern: '\\S', minLength: 1, maxLength: 500 } }),
  ),
  metadata: maybe(MetadataBody),
}).annotations({ identifier: 'Adjustment' });
export type AdjustmentBody = typeof AdjustmentBody.Type;

/** A recharge or an adjustment that was made, with the account's balance as it is now. */
export const FundingAnswer = Schema.Struct({
  id: Id,
  account: AccountName,
  unit: Unit,
  amount: AmountOut,
  reference: maybe(Id),
  reason: maybe(Schema.String),
  ...balance,
  position: Position,
}).annotations({ identifier: 'Funding' });
export type FundingAnswer = typeof FundingAnswer.Type;

/** Query of a balance. */
export const MomentQuery = Schema.Struct({
  at: maybe(Moment.annotations({ description: 'A time (RFC 3339): the balance as it was then.' })),
  position: maybe(
    Schema.Int.pipe(Schema.between(1, Number.MAX_SAFE_INTEGER)).annotations({
      description: "A position of the tenant's partition: the balance right after it.",
    }),
  ),
});
export type MomentQuery = typeof MomentQuery.Type;
