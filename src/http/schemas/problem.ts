import { Schema } from '../../../events/schema.js';
import { AmountOut } from './amount.js';
import { maybe } from './names.js';

/** RFC 9457, with a stable `code` and what the code speaks of. docs/ERRORS.md has every code. */
export const ProblemAnswer = Schema.Struct({
  type: Schema.String.annotations({ description: 'urn:holdfast:problem: and the code.' }),
  title: Schema.String,
  status: Schema.Int,
  detail: Schema.String,
  code: Schema.String.annotations({ description: 'Stable: programs decide on this one.' }),
  field: maybe(Schema.String.annotations({ description: 'The member, parameter or header that is at fault.' })),
  recorded: maybe(Schema.String.annotations({ description: 'What stands recorded under the id in that field.' })),
  id: maybe(Schema.String),
  account: maybe(Schema.String),
  model: maybe(Schema.String),
  unit: maybe(Schema.String),
  units: maybe(Schema.Array(Schema.String)),
  bucket: maybe(Schema.String),
  reason: maybe(Schema.String),
  scope: maybe(Schema.String),
  request_id: maybe(Schema.String),
}).annotations({ identifier: 'Problem' });
export type ProblemAnswer = typeof ProblemAnswer.Type;

/** The body that OpenAI's clients know, and one thing more. */
export const QuotaAnswer = Schema.Struct({
  error: Schema.Struct({
    message: Schema.String,
    type: Schema.Literal('insufficient_quota'),
    param: Schema.Null,
    code: Schema.Literal('insufficient_quota'),
    holdfast: Schema.Struct({
      account: Schema.String.annotations({ description: 'The account that is short.' }),
      available: AmountOut,
      required: AmountOut,
    }),
  }),
}).annotations({ identifier: 'InsufficientQuota' });
export type QuotaAnswer = typeof QuotaAnswer.Type;
