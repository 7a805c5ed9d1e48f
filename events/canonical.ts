import { hash as digest } from 'node:crypto';
import { wireType } from './catalogue.js';
import type { EventPayload } from './catalogue.js';
import { SEQUENCE_DIGITS, sourceOf } from './envelope.js';
import type { LedgerEvent, StoredEvent } from './envelope.js';
import type { Posting } from './posting.js';

/*
 * The canonical form, byte by byte (docs/EVENTS.md has it for auditors):
 *   body  = the UTF-8 bytes of one JSON object, no white space, members in the order written below;
 *   hash  = SHA-256( the 32 bytes of the previous event's hash, then body );
 *   first = the "previous hash" of position 1 is SHA-256 of the UTF-8 text "holdfast:<ledger id>:<partition>".
 * On Kafka the body's last "}" is replaced by  ,"prevhash":"<64 hex>","hash":"<64 hex>"}  and nothing else changes, so
 * whoever has a message has the body: cut the last 153 bytes, add "}".
 */

const sha256 = (bytes: Buffer | string): string => digest('sha256', bytes, 'hex');

/** The hash before the first event of a partition: it binds the chain to its ledger and partition. */
export const genesisHash = (ledger: string, partition: number): string =>
  sha256(`holdfast:${ledger}:${partition.toString()}`);

const HASH_BYTES = 32;
/** What is hashed is put together here: nothing waits between filling it and hashing it. Larger bodies get room of their own. */
const ROOM = Buffer.allocUnsafeSlow(65_536);
const roomFor = (bytes: number): Buffer => (bytes <= ROOM.length ? ROOM : Buffer.allocUnsafeSlow(bytes));

/** The hash of an event: SHA-256 over the previous event's 32 bytes and the canonical body. Lower-case hex. */
export const chainHash = (prevHash: string, body: string): string => {
  const room = roomFor(HASH_BYTES + 3 * body.length);
  if (room.write(prevHash, 0, HASH_BYTES, 'hex') !== HASH_BYTES) throw new RangeError('A hash is 64 hex digits.');
  return sha256(room.subarray(0, HASH_BYTES + room.write(body, HASH_BYTES)));
};

const postingText = (p: Posting): Record<string, string> => ({
  account: p.account,
  unit: p.unit,
  available: p.available.toString(),
  held: p.held.toString(),
  used: p.used.toString(),
  funded: p.funded.toString(),
});

/** Amounts become decimal strings; member order is that of the object, which `decide` fixes. */
const dataText = ({ data }: EventPayload): Record<string, unknown> => {
  const text: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(data)) {
    if (typeof value === 'bigint') text[key] = value.toString();
    else if (key === 'postings') text[key] = (value as readonly Posting[]).map(postingText);
    else if (key === 'requested')
      text[key] = (value as readonly { unit: string; amount: bigint }[]).map((r) => ({
        unit: r.unit,
        amount: r.amount.toString(),
      }));
    else text[key] = value;
  }
  return text;
};

/** The canonical body of an event. */
export const canonicalBody = (event: LedgerEvent): string => {
  const position = event.position.toString();
  return JSON.stringify({
    specversion: '1.0',
    id: `${event.ledger}.${event.partition.toString()}.${position}`,
    source: sourceOf(event.ledger),
    type: wireType(event.name),
    time: new Date(event.timeMs).toISOString(),
    subject: event.subject,
    datacontenttype: 'application/json',
    sequence: position.padStart(SEQUENCE_DIGITS, '0'),
    position,
    partition: event.partition,
    incarnation: event.incarnation,
    tenant: event.tenant,
    ...(event.traceparent === undefined ? {} : { traceparent: event.traceparent }),
    data: dataText(event),
  });
};

/** Seals an event into the chain after `prevHash`. */
export const seal = (event: LedgerEvent, prevHash: string): StoredEvent => {
  const body = canonicalBody(event);
  return { event, body, prevHash, hash: chainHash(prevHash, body) };
};

/** Bytes that a message has more than its body: the two hashes, less the body's closing brace, plus its own. */
const SUFFIX = `,"prevhash":"${'0'.repeat(64)}","hash":"${'0'.repeat(64)}"}`;
const SUFFIX_LENGTH = SUFFIX.length;
const HASH_PATTERN = /^[0-9a-f]{64}$/;
const CLOSING_BRACE = 0x7d;
const SUFFIX_PATTERN = /^,"prevhash":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}$/;

/** The Kafka value of an event: a CloudEvent in structured mode, the body with its two hashes. */
export const messageOf = (stored: Pick<StoredEvent, 'body' | 'prevHash' | 'hash'>): string =>
  `${stored.body.slice(0, -1)},"prevhash":"${stored.prevHash}","hash":"${stored.hash}"}`;

/** Takes a Kafka value apart again. Returns undefined when it is not of that form. It does not check the hash. */
export const splitMessage = (value: string): Pick<StoredEvent, 'body' | 'prevHash' | 'hash'> | undefined => {
  const match = SUFFIX_PATTERN.exec(value.slice(-SUFFIX_LENGTH));
  const [, prevHash, hash] = match ?? [];
  if (prevHash === undefined || hash === undefined) return undefined;
  return { body: `${value.slice(0, -SUFFIX_LENGTH)}}`, prevHash, hash };
};

/** A Kafka value taken apart. */
export interface OpenedMessage extends Pick<StoredEvent, 'body' | 'prevHash' | 'hash'> {
  /** Whether the hash is that of the previous hash and the body. */
  readonly intact: boolean;
}

const PREVHASH_AT = SUFFIX.indexOf('0');
const BETWEEN_AT = PREVHASH_AT + 2 * HASH_BYTES;
const HASH_AT = SUFFIX.indexOf('0', BETWEEN_AT);
const [BEFORE, BETWEEN] = [SUFFIX.slice(0, PREVHASH_AT), SUFFIX.slice(BETWEEN_AT, HASH_AT)];

/**
 * Takes a Kafka value apart as `splitMessage` does, and checks its hash, at half the cost: on the bytes as they came, which are
 * what was hashed. Returns undefined when it is not of that form.
 */
export const openMessage = (value: Buffer): OpenedMessage | undefined => {
  const cut = value.length - SUFFIX_LENGTH;
  if (cut < 0) return undefined;
  const suffix = value.toString('latin1', cut);
  if (!suffix.startsWith(BEFORE) || !suffix.startsWith(BETWEEN, BETWEEN_AT) || !suffix.endsWith('"}')) return undefined;
  const [prevHash, hash] = [suffix.slice(PREVHASH_AT, BETWEEN_AT), suffix.slice(HASH_AT, -2)];
  const end = HASH_BYTES + cut + 1;
  const room = roomFor(end);
  room.write(prevHash, 0, HASH_BYTES, 'hex');
  if (room.toString('hex', 0, HASH_BYTES) !== prevHash) return undefined;
  room.set(value.subarray(0, cut), HASH_BYTES);
  room[end - 1] = CLOSING_BRACE;
  const intact = sha256(room.subarray(0, end)) === hash;
  if (!intact && !HASH_PATTERN.test(hash)) return undefined;
  return { body: room.toString('utf8', HASH_BYTES, end), prevHash, hash, intact };
};
