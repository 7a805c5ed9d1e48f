import { Schema } from '../../../events/schema.js';
import { AmountIn, AmountsIn, AmountsOut, Moment, Position } from './amount.js';
import { AccountName, AccountNames, Id, MetadataBody, maybe } from './names.js';
import { EventAnswer } from './event.js';

/** What limits a body has that are configured. Time in seconds. */
export interface ReservationLimits {
  readonly ttlMaxSeconds: number;
}

/** The levels that are offered. `fast` has its name and its place (design, section 5) and is answered `level_not_available`. */
const LevelIn = Schema.Literal('durable', 'replicated').annotations({
  description:
    'What the answer promises: durable (committed to the journal) or replicated (in Kafka as well). A request may only raise the configured level.',
});

const ttlSeconds = ({ ttlMaxSeconds }: ReservationLimits) =>
  Schema.Int.pipe(Schema.between(1, ttlMaxSeconds)).annotations({
    description: `Seconds from now until the hold goes back by itself, 1 to ${ttlMaxSeconds.toString()}.`,
  });

/** Not both of `amount` and `amounts`. */
export const NOT_BOTH_AMOUNTS = { not: { required: ['amount', 'amounts'] } } as const;
/** A reserve also needs one of them, or a model to take it from. */
export const RESERVE_RULES = {
  ...NOT_BOTH_AMOUNTS,
  anyOf: [{ required: ['amount'] }, { required: ['amounts'] }, { required: ['model'] }],
} as const;
/** A finalize needs exactly one of them. */
export const FINALIZE_RULES = {
  ...NOT_BOTH_AMOUNTS,
  anyOf: [{ required: ['amount'] }, { required: ['amounts'] }],
} as const;

/** The body of a reserve; its bounds are configured. */
export const ReserveBody = (limits: ReservationLimits) =>
  Schema.Struct({
    id: maybe(Id),
    accounts: maybe(AccountNames),
    model: maybe(Id),
    amount: maybe(AmountIn),
    amounts: maybe(AmountsIn),
    ttl_seconds: maybe(ttlSeconds(limits)),
    level: maybe(LevelIn),
    metadata: maybe(MetadataBody),
  }).annotations({ identifier: 'Reserve' });
export type ReserveBody = ReturnType<typeof ReserveBody>['Type'];

const UsageIn = Schema.Record({ key: Schema.String, value: Schema.Int }).annotations({
  jsonSchema: {
    type: 'object',
    description: 'Tokens by kind, as the provider reported them: whole numbers, at most 32 kinds.',
    propertyNames: { pattern: '^[A-Za-z0-9._:@/-]{1,128}$' },
    maxProperties: 32,
    additionalProperties: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
});

export const FinalizeBody = Schema.Struct({
  amount: maybe(AmountIn),
  amounts: maybe(AmountsIn),
  usage: maybe(UsageIn),
  accounts: maybe(AccountNames),
  model: maybe(Id),
  level: maybe(LevelIn),
  metadata: maybe(MetadataBody),
}).annotations({ identifier: 'Finalize' });
export type FinalizeBody = typeof FinalizeBody.Type;

export const RefundBody = Schema.Struct({
  reason: Schema.String.pipe(
    Schema.pattern(/^(?!expired$)[a-z][a-z0-9_]{0,63}$/, {
      description: 'A short word that statistics can count: 1 to 64 of a-z 0-9 _, a letter first; not "expired".',
    }),
  ),
}).annotations({ identifier: 'Refund' });
export type RefundBody = typeof RefundBody.Type;

/** The body of an extend; its bounds are configured. */
export const ExtendBody = (limits: ReservationLimits) =>
  Schema.Struct({ ttl_seconds: ttlSeconds(limits) }).annotations({ identifier: 'Extend' });
export type ExtendBody = ReturnType<typeof ExtendBody>['Type'];

const State = Schema.Literal('open', 'finalized', 'refunded');

const common = {
  id: Id,
  state: State,
  accounts: Schema.Array(AccountName),
  model: maybe(Id),
} as const;

const closing = {
  released: maybe(
    AmountsOut.annotations({ description: 'What went back; below 0 where the cost beat the hold. Once finalized.' }),
  ),
  late: maybe(Schema.Boolean.annotations({ description: 'The finalize came after the reservation had expired.' })),
  max_cost_raised: maybe(AmountsOut),
} as const;

const reservation = {
  ...common,
  amounts: AmountsOut,
  expires_at: Moment,
  position: Position,
  /** What it really cost, once finalized. */
  cost: maybe(AmountsOut),
  ...closing,
  /** Why it was refunded. */
  reason: maybe(Schema.String),
  metadata: maybe(MetadataBody),
} as const;

/** A reservation: `amounts` is what was held. */
export const ReservationAnswer = Schema.Struct(reservation).annotations({
  identifier: 'Reservation',
  description: 'A reservation as it is now. `amounts` is what was held.',
});
export type ReservationAnswer = typeof ReservationAnswer.Type;

/** A finalize's answer: `amounts` is what was charged. */
export const FinalizedAnswer = Schema.Struct({
  ...common,
  amounts: AmountsOut,
  ...closing,
  position: Position,
}).annotations({ identifier: 'FinalizedReservation', description: '`amounts` is what was charged.' });
export type FinalizedAnswer = typeof FinalizedAnswer.Type;

export const ReservationHistoryAnswer = Schema.Struct({
  ...reservation,
  events: Schema.Array(EventAnswer),
}).annotations({ identifier: 'ReservationHistory', description: 'A reservation with its events, oldest first.' });
