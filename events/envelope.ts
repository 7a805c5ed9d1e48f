import type { EventPayload } from './catalogue.js';
import { Identifier, Timestamp } from './identifier.js';
import { Schema, member, optionalMember, wholeFrom } from './schema.js';

/** Digits of `sequence`: zero-padded to this width, positions compare as text. */
export const SEQUENCE_DIGITS = 20;

const SOURCE_PATTERN = /^urn:holdfast:[A-Za-z0-9._-]{1,64}$/;

/**
 * What surrounds every event: CloudEvents 1.0 attributes and Holdfast's extensions, in the order in which they are
 * written. `prevhash` and `hash` follow `data` and stand outside the canonical form (see canonical.ts).
 */
export const ENVELOPE_FIELDS = {
  specversion: Schema.Literal('1.0'),
  id: member(Schema.String, '<ledger>.<partition>.<position>: unique, and the same in every copy of the log'),
  source: member(Schema.String.pipe(Schema.pattern(SOURCE_PATTERN)), 'urn:holdfast:<ledger>'),
  type: member(Schema.String, 'com.holdfast.<event>.v<version>'),
  time: member(Timestamp, "When it was appended, on the journal's clock"),
  subject: member(Identifier, 'The account that the event is about (the model, for max_cost)'),
  datacontenttype: Schema.Literal('application/json'),
  sequence: member(Schema.String.pipe(Schema.pattern(/^\d{20}$/)), 'The position, zero-padded: it compares as text'),
  position: member(
    Schema.String.pipe(Schema.pattern(/^[1-9]\d{0,15}$/)),
    '1, 2, 3 … within the partition, without gaps',
  ),
  partition: member(wholeFrom(0), 'The ledger partition, which is the Kafka partition'),
  incarnation: member(wholeFrom(1), 'Raised whenever an operator resumes a restored ledger'),
  tenant: member(Identifier, "The customer: the message's key"),
  traceparent: optionalMember(Schema.String, 'W3C trace context of the request'),
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

/** What precedes the ledger's id in the CloudEvents `source`. */
export const SOURCE_PREFIX = 'urn:holdfast:';

/** The CloudEvents `source` of a ledger. */
export const sourceOf = (ledger: string): string => `${SOURCE_PREFIX}${ledger}`;
