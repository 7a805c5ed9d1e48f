import type { EventPayload } from './catalogue.js';
import { Identifier, Timestamp } from './identifier.js';
import { Schema } from './schema.js';

/** Digits of `sequence`: zero-padded to this width, positions compare as text. */
export const SEQUENCE_DIGITS = 20;

/**
 * What surrounds every event: CloudEvents 1.0 attributes and Holdfast's extensions, in the order in which they are
 * written. `prevhash` and `hash` follow `data` and stand outside the canonical form (see canonical.ts).
 */
export const ENVELOPE_FIELDS = {
  specversion: Schema.Literal('1.0'),
  id: Schema.String,
  source: Schema.String,
  time: Timestamp,
  subject: Identifier,
  datacontenttype: Schema.Literal('application/json'),
  sequence: Schema.String.pipe(Schema.pattern(/^\d{20}$/)),
  position: Schema.String.pipe(Schema.pattern(/^[1-9]\d{0,15}$/)),
  partition: Schema.Int.pipe(Schema.nonNegative()),
  incarnation: Schema.Int.pipe(Schema.positive()),
  tenant: Identifier,
  traceparent: Schema.optionalWith(Schema.String, { exact: true }),
} as const;

/** Where and when an event stands in the ledger. */
export interface EventPlace {
  /** The ledger's own id (a UUID, made when it is created). */
  readonly ledger: string;
  readonly partition: number;
  /** 1, 2, 3 … within the partition; a safe integer. */
  readonly position: number;
  readonly incarnation: number;
  /** Milliseconds since 1970 on Postgres's clock, read after the head's lock was taken. */
  readonly timeMs: number;
  readonly tenant: string;
  /** The account that the event is about (or the model, for max_cost). */
  readonly subject: string;
  readonly traceparent?: string;
}

/** A whole event: where it stands and what it says. */
export type LedgerEvent = EventPlace & EventPayload;

/** An event as the log holds it: its canonical body and its link in the chain. Hashes in lower-case hex. */
export interface StoredEvent {
  readonly event: LedgerEvent;
  readonly body: string;
  readonly prevHash: string;
  readonly hash: string;
}

/** The CloudEvents `source` of a ledger. */
export const sourceOf = (ledger: string): string => `urn:holdfast:${ledger}`;
