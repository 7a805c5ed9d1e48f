import { messageOf, openMessage, sourceOf, writtenPlace } from '../../events/index.js';
import type { SealedEvent } from '../../events/index.js';
import type { KafkaRecord, OutgoingMessage } from './wire/records.js';

/** The `content-type` header: CloudEvents 1.0, structured mode. */
export const CONTENT_TYPE = 'application/cloudevents+json; charset=utf-8';

/** An event as Kafka holds it, not decoded. Its hash is right for its body. */
export interface LogMessage {
  readonly position: number;
  readonly incarnation: number;
  readonly body: string;
  readonly prevHash: string;
  readonly hash: string;
}

export type ReadRecord =
  | { readonly kind: 'event'; readonly message: LogMessage }
  /** Nothing of this ledger's partition, or damaged: `why` says what, and nothing of what it holds. */
  | { readonly kind: 'foreign'; readonly why: string };

/** The message of an event: keyed by tenant, with two headers only (ten double the cost of a message, measured). */
export const outgoing = (stored: SealedEvent): OutgoingMessage => ({
  key: stored.event.tenant,
  value: messageOf(stored),
  headers: { 'content-type': CONTENT_TYPE, position: stored.event.position.toString() },
});

const foreign = (why: string): ReadRecord => ({ kind: 'foreign', why });

/** Takes a record of the topic apart. Whatever Kafka (or whoever else writes there) gives, this decides whether it is ours. */
export const readRecord = ({ value }: Pick<KafkaRecord, 'value'>, ledger: string, partition: number): ReadRecord => {
  const opened = value === null ? undefined : openMessage(value);
  if (opened === undefined) return foreign('it is not in the form of an event');
  const { body, prevHash, hash, intact } = opened;
  const place = writtenPlace(body);
  if (place === undefined) return foreign('its body is no JSON object');
  if (place.source !== sourceOf(ledger)) return foreign('it is of another ledger');
  if (place.partition !== partition) return foreign('it is of another partition');
  const position = typeof place.position === 'string' ? Number(place.position) : Number.NaN;
  const { incarnation } = place;
  if (!Number.isSafeInteger(position) || position < 1) return foreign('its position is no position');
  if (typeof incarnation !== 'number' || !Number.isSafeInteger(incarnation)) return foreign('its incarnation is none');
  if (!intact) return foreign('its hash is not that of its body');
  return { kind: 'event', message: { position, incarnation, body, prevHash, hash } };
};
