import { Schema } from '../../../events/schema.js';
import { AdjustmentBody, OpenAccountBody, RechargeBody } from './account.js';
import { AccountName, Id, Tenant, maybe } from './names.js';
import type { JsonObject, SchemaShelf } from './json-schema.js';
import { ExtendBody, FINALIZE_RULES, FinalizeBody, RESERVE_RULES, RefundBody, ReserveBody } from './reservation.js';
import type { ReservationLimits } from './reservation.js';

/** Most commands in one call. */
export const BATCH_MAX = 100;

const tenant = maybe(
  Tenant.annotations({ description: 'For keys of all tenants: whose reservation it is, where the header is not for all.' }),
);

const named = (name: string) => ({ identifier: `Batch${name.charAt(0).toUpperCase()}${name.slice(1)}` });

/* Each command is the body of its own request, with `op`, and the ids that stand in the path there. */
const BatchOpen = Schema.Struct({ op: Schema.Literal('open'), ...OpenAccountBody.fields }).annotations(named('open'));
const BatchRecharge = Schema.Struct({
  op: Schema.Literal('recharge'),
  account: AccountName,
  ...RechargeBody.fields,
}).annotations(named('recharge'));
const BatchAdjust = Schema.Struct({
  op: Schema.Literal('adjust'),
  account: AccountName,
  ...AdjustmentBody.fields,
}).annotations(named('adjust'));
const BatchReserve = (limits: ReservationLimits) =>
  Schema.Struct({ op: Schema.Literal('reserve'), tenant, ...ReserveBody(limits).fields }).annotations(named('reserve'));
const BatchGet = Schema.Struct({ op: Schema.Literal('get'), tenant, id: Id }).annotations(named('get'));
const BatchFinalize = Schema.Struct({
  op: Schema.Literal('finalize'),
  tenant,
  id: Id,
  ...FinalizeBody.fields,
}).annotations(named('finalize'));
const BatchRefund = Schema.Struct({ op: Schema.Literal('refund'), tenant, id: Id, ...RefundBody.fields }).annotations(
  named('refund'),
);
const BatchExtend = (limits: ReservationLimits) =>
  Schema.Struct({ op: Schema.Literal('extend'), tenant, id: Id, ...ExtendBody(limits).fields }).annotations(named('extend'));

export type BatchCommand =
  | typeof BatchOpen.Type
  | typeof BatchRecharge.Type
  | typeof BatchAdjust.Type
  | ReturnType<typeof BatchReserve>['Type']
  | typeof BatchGet.Type
  | typeof BatchFinalize.Type
  | typeof BatchRefund.Type
  | ReturnType<typeof BatchExtend>['Type'];

export interface BatchBody {
  readonly commands: readonly BatchCommand[];
}

/** The batch's body: a choice by `op`, which names the command at fault (`commands[3].amount`) when one is malformed. */
export const putBatchBody = (shelf: SchemaShelf, limits: ReservationLimits): { readonly $ref: string } => {
  const choices = [
    shelf.put(BatchReserve(limits), RESERVE_RULES),
    shelf.put(BatchGet),
    shelf.put(BatchFinalize, FINALIZE_RULES),
    shelf.put(BatchRefund),
    shelf.put(BatchExtend(limits)),
    shelf.put(BatchOpen),
    shelf.put(BatchRecharge),
    shelf.put(BatchAdjust),
  ];
  const items: JsonObject = {
    type: 'object',
    required: ['op'],
    discriminator: { propertyName: 'op' },
    oneOf: choices,
  };
  return shelf.putJson('Batch', {
    type: 'object',
    required: ['commands'],
    additionalProperties: false,
    properties: { commands: { type: 'array', minItems: 1, maxItems: BATCH_MAX, items } },
  });
};

/** The batch's answer: for each command the status and body that it would have had alone. */
export const putBatchAnswer = (shelf: SchemaShelf, bodies: readonly { readonly $ref: string }[]) =>
  shelf.putJson('BatchResults', {
    type: 'object',
    required: ['results'],
    additionalProperties: false,
    properties: {
      results: {
        type: 'array',
        items: {
          type: 'object',
          required: ['status', 'body'],
          additionalProperties: false,
          properties: {
            status: { type: 'integer' },
            idempotency_hit: {
              type: 'boolean',
              description: 'True when this answers a command that had been carried out before.',
            },
            body: { anyOf: bodies.map(({ $ref }) => ({ $ref })) },
          },
        },
      },
    },
  });
