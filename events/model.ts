import { Amount } from './amount.js';
import { Identifier, UnitName } from './identifier.js';
import { Postings } from './posting.js';
import { Schema } from './schema.js';

/** max_cost is per model and unit, and global; `revision` counts its changes, so that a copy is only ever replaced by a later one. */
const common = {
  model: Identifier,
  unit: UnitName,
  amount: Amount,
  /** What it was before; absent when the model had none. */
  previous: Schema.optionalWith(Amount, { exact: true }),
  revision: Schema.Int.pipe(Schema.positive()),
} as const;

/** A real cost beat the known maximum. Stands in the partition of the tenant whose finalize it was. */
export const MaxCostRaised = Schema.Struct({
  ...common,
  reservation_id: Identifier,
  postings: Postings,
}).annotations({ identifier: 'MaxCostRaised' });
export type MaxCostRaised = typeof MaxCostRaised.Type;

/** An operator set it, upward or downward. Stands in partition 0. */
export const MaxCostSet = Schema.Struct({ ...common, postings: Postings }).annotations({ identifier: 'MaxCostSet' });
export type MaxCostSet = typeof MaxCostSet.Type;
