import { CATALOGUE, EVENT_NAMES, wireType } from '../../../events/index.js';
import { Schema } from '../../../events/schema.js';
import { AmountOut, Moment, Position } from './amount.js';
import { Id, Tenant, maybe } from './names.js';

const HexHash = Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/, { description: 'SHA-256, in lower-case hex.' }));

const balanceAfter = Schema.Struct({
  available: AmountOut,
  held: AmountOut,
  used: AmountOut,
  funded: AmountOut,
}).annotations({ identifier: 'BalanceAfter', description: "The account's buckets right after this event." });

const data = Schema.Union(...EVENT_NAMES.map((name) => CATALOGUE[name].data));

const event = {
  specversion: Schema.Literal('1.0'),
  id: Schema.String,
  source: Schema.String,
  type: Schema.Literal(...(EVENT_NAMES.map(wireType) as [string, ...string[]])),
  time: Moment,
  subject: Id,
  datacontenttype: Schema.Literal('application/json'),
  sequence: Schema.String.annotations({ description: 'The position, zero-padded: it compares as text.' }),
  position: Position,
  partition: Schema.Int,
  incarnation: Schema.Int,
  tenant: Tenant,
  traceparent: maybe(Schema.String),
  data,
  prevhash: HexHash,
  hash: HexHash,
} as const;

/**
 * An event as it stands on Kafka, with one difference: `position` is a number here, a decimal string there.
 * The hash is over Kafka's form (docs/EVENTS.md).
 */
export const EventAnswer = Schema.Struct(event).annotations({ identifier: 'Event' });

export const TrailEntryAnswer = Schema.Struct({ ...event, balance_after: balanceAfter }).annotations({
  identifier: 'TrailEntry',
});

export const TrailAnswer = Schema.Struct({
  events: Schema.Array(TrailEntryAnswer),
  next_cursor: maybe(
    Schema.String.annotations({ description: 'Give it as `cursor` for the next page; absent at the end.' }),
  ),
}).annotations({ identifier: 'Trail' });


/** Most events in one page, and how many there are unless told otherwise. */
const LIMIT_MAX = 1000;
export const LIMIT_DEFAULT = 100;

/** Query of a trail. */
export const TrailQuery = Schema.Struct({
  order: maybe(Schema.Literal('oldest_first', 'newest_first').annotations({ description: 'Default oldest_first.' })),
  from: maybe(Moment.annotations({ description: 'Not before this time (RFC 3339).' })),
  to: maybe(Moment.annotations({ description: 'Before this time (RFC 3339).' })),
  limit: maybe(
    Schema.Int.pipe(Schema.between(1, LIMIT_MAX)).annotations({ description: `Default ${LIMIT_DEFAULT.toString()}.` }),
  ),
  cursor: maybe(
    Schema.String.pipe(Schema.maxLength(64)).annotations({ description: 'The `next_cursor` of the page before.' }),
  ),
});
export type TrailQuery = typeof TrailQuery.Type;
