import { Amount } from './amount.js';
import { Identifier, UnitName } from './identifier.js';
import { Postings } from './posting.js';
import { Schema, member, optionalMember, wholeFrom } from './schema.js';

/** max_cost is per model and unit, and global; `revision` counts its changes, so that a copy is only ever replaced by a later one. */
const common = {
  model: Identifier,
  unit: UnitName,
  amount: member(Amount, 'The max_cost from here on'),
  previous: optionalMember(Amount, 'What it was before; absent when the model had none'),
  revision: member(wholeFrom(1), 'Counts the changes: a copy is only ever replaced by a higher revision'),
} as const;

/** A real cost beat the known maximum. Stands in the partition of the tenant whose finalize it was. */
export const MaxCostRaised = Schema.Struct({
  ...common,
  reservation_id: member(Identifier, 'The reservation whose finalize it was'),
  postings: Postings,
}).annotations({ identifier: 'MaxCostRaised', description: "A real cost beat the model's max_cost and raised it" });
export type MaxCostRaised = typeof MaxCostRaised.Type;

/** An operator set it, upward or downward. Stands in partition 0. */
export const MaxCostSet = Schema.Struct({ ...common, postings: Postings }).annotations({
  identifier: 'MaxCostSet',
  description: "An operator set a model's max_cost",
});
export type MaxCostSet = typeof MaxCostSet.Type;
