import type { LedgerEvent, StoredEvent } from './envelope.js';
import { MalformedEventError } from './decode.js';

/** What a body says of its place; not checked. */
export interface WrittenPlace {
  readonly source: unknown;
  readonly time: unknown;
  readonly position: unknown;
  readonly partition: unknown;
  readonly incarnation: unknown;
  readonly tenant: unknown;
}

/** The canonical form's own order, which finds the place without parsing what is around it. */
const CANONICAL =
  /^\{"specversion":"1\.0","id":"[^"\\]*","source":"([^"\\]*)","type":"[^"\\]*","time":"([^"\\]*)","subject":"[^"\\]*","datacontenttype":"application\/json","sequence":"\d*","position":"(\d+)","partition":(\d+),"incarnation":(\d+),"tenant":"([^"\\]*)"/;

/** Where a body says that it stands, at a twentieth of what decoding it costs. Undefined when it is no JSON object. */
export const writtenPlace = (body: string): WrittenPlace | undefined => {
  const [found, source, time, position, partition, incarnation, tenant] = CANONICAL.exec(body) ?? [];
  if (found !== undefined)
    return { source, time, position, partition: Number(partition), incarnation: Number(incarnation), tenant };
  try {
    // A later release may have put an optional member somewhere in between.
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null ? (parsed as WrittenPlace) : undefined;
  } catch {
    return undefined;
  }
};

/** An event as it is passed on unread: what its body means is not looked at. */
export interface SealedEvent extends Pick<StoredEvent, 'body' | 'prevHash' | 'hash'> {
  readonly event: Pick<LedgerEvent, 'position' | 'incarnation' | 'timeMs' | 'tenant'>;
}

/** A stored body with its place only. Raises MalformedEventError when it does not say it. */
export const sealedFrom = (stored: Pick<StoredEvent, 'body' | 'prevHash' | 'hash'>): SealedEvent => {
  const place = writtenPlace(stored.body);
  const position = Number(place?.position);
  const incarnation = place?.incarnation;
  const timeMs = typeof place?.time === 'string' ? Date.parse(place.time) : Number.NaN;
  const said = Number.isSafeInteger(position) && !Number.isNaN(timeMs) && typeof incarnation === 'number';
  if (!said || typeof place?.tenant !== 'string')
    throw new MalformedEventError('The log holds a body that does not say its position, incarnation, time and tenant.');
  return { ...stored, event: { position, incarnation, timeMs, tenant: place.tenant } };
};
