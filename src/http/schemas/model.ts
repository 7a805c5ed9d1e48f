import { Schema } from '../../../events/schema.js';
import { AmountsIn, AmountsOut } from './amount.js';
import { Id, maybe } from './names.js';

export const MaxCostBody = Schema.Struct({ amounts: AmountsIn }).annotations({ identifier: 'SetMaxCost' });
export type MaxCostBody = typeof MaxCostBody.Type;

export const ModelAnswer = Schema.Struct({
  id: Id,
  amounts: AmountsOut,
  revision: Schema.Int.annotations({ description: 'How often any of its amounts was set or raised.' }),
  pending: maybe(
    AmountsOut.annotations({
      description: 'A higher cost that was charged and waits for an operator to allow it as the maximum.',
    }),
  ),
}).annotations({ identifier: 'Model' });
export type ModelAnswer = typeof ModelAnswer.Type;
