import { genesisHash, sealedFrom } from '../../events/index.js';
import type { SealedEvent, StoredEvent } from '../../events/index.js';
import type { EventRow } from '../core/audit.js';
import type { DecodeBody } from '../core/ports.js';
import type { LinkedEventRow } from './sql/log.js';

/** What turns rows of one ledger's events into events. */
export interface EventSource {
  /** The ledger's id. */
  readonly ledger: string;
  readonly decode: DecodeBody;
}

type Link = Omit<StoredEvent, 'event'>;

/**
 * A run of links after a position, from the rows that begin with that position's own. Empty when the log does not
 * reach that far.
 */
const linksFrom = (ledger: string, partition: number, after: number, rows: readonly EventRow[]): Link[] => {
  const [first, ...rest] = rows;
  if (first === undefined) return [];
  if (after > 0 && first.position !== after) return [];
  let prevHash = after === 0 ? genesisHash(ledger, partition) : first.hash;
  return (after === 0 ? rows : rest).map(({ hash, body }) => {
    const link = { body, prevHash, hash };
    prevHash = hash;
    return link;
  });
};

/** A run of events after a position, from the rows that begin with that position's own. */
export const runFrom = (
  { ledger, decode }: EventSource,
  partition: number,
  after: number,
  rows: readonly EventRow[],
): StoredEvent[] => linksFrom(ledger, partition, after, rows).map((link) => ({ event: decode(link.body), ...link }));

/** The same, not decoded. */
export const sealedRunFrom = (
  { ledger }: EventSource,
  partition: number,
  after: number,
  rows: readonly EventRow[],
): SealedEvent[] => linksFrom(ledger, partition, after, rows).map(sealedFrom);

/** An event from a row that knows the hash before it. */
export const linkedFrom = (
  { ledger, decode }: EventSource,
  partition: number,
  { hash, body, prevHash }: LinkedEventRow,
): StoredEvent => ({ event: decode(body), body, prevHash: prevHash ?? genesisHash(ledger, partition), hash });
