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

/** The hash of an event: SHA-256 over the previous event's 32 bytes and the canonical body. Lower-case hex. */
export const chainHash = (prevHash: string, body: string): string => {
  const bytes = Buffer.allocUnsafe(32 + Buffer.byteLength(body));
  bytes.write(prevHash, 0, 32, 'hex');
  bytes.write(body, 32, 'utf8');
  return sha256(bytes);
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
const SUFFIX_LENGTH = `,"prevhash":"${'0'.repeat(64)}","hash":"${'0'.repeat(64)}"}`.length;
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
