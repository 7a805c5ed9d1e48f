import { Schema } from '../../../events/schema.js';
import { maybe } from './names.js';

export const HealthAnswer = Schema.Struct({ status: Schema.Literal('alive') }).annotations({ identifier: 'Health' });

const Part = Schema.Struct({
  name: Schema.String,
  ok: Schema.Boolean,
  state: Schema.String.annotations({ description: 'Its state, in words.' }),
}).annotations({ identifier: 'Part' });

export const ReadinessAnswer = Schema.Struct({
  ready: Schema.Boolean,
  build: Schema.Struct({ version: Schema.String, commit: maybe(Schema.String) }),
  schema_version: Schema.Int,
  scripts: Schema.Record({ key: Schema.String, value: Schema.String }).annotations({
    description: 'The digest of each script that Redis runs, by its name.',
  }),
  parts: Schema.Array(Part),
}).annotations({ identifier: 'Readiness' });
export type ReadinessAnswer = typeof ReadinessAnswer.Type;
