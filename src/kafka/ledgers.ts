import { openMessage, sourceOf, writtenPlace } from '../../events/index.js';
import type { KafkaLink, KafkaRecord } from './link.js';

const LIMITS = { maxWaitMs: 100, maxBytes: 262_144, maxBytesPerPartition: 262_144 } as const;
const PREFIX = sourceOf('');

/** The ledger whose intact event a record is; undefined when it is none. */
const ledgerOf = ({ value }: KafkaRecord, partition: number): string | undefined => {
  const opened = value === null ? undefined : openMessage(value);
  if (opened?.intact !== true) return undefined;
  const place = writtenPlace(opened.body);
  if (place?.partition !== partition || typeof place.source !== 'string') return undefined;
  return place.source.startsWith(PREFIX) ? place.source.slice(PREFIX.length) : undefined;
};

/**
 * The ids of the ledgers whose events stand first in the topic's partitions, whatever stands before them. Usually one. Must not run
 * beside another fetch on the same link. Raises KafkaError.
 */
export const ledgersOn = async (link: KafkaLink, partitions: readonly number[]): Promise<readonly string[]> => {
  const [starts, ends] = [await link.offsets(partitions, 'earliest'), await link.offsets(partitions, 'latest')];
  const found = new Set<string>();
  for (const partition of partitions) {
    const end = ends.get(partition) ?? 0;
    let next = starts.get(partition) ?? 0;
    while (next < end) {
      const [node = ''] = (await link.leaders([partition])).keys();
      const [fetched] = await link.fetch(node, new Map([[partition, next]]), LIMITS);
      if (fetched?.fault !== undefined) throw fetched.fault;
      const ledger = fetched?.records.map((record) => ledgerOf(record, partition)).find((one) => one !== undefined);
      if (ledger !== undefined) found.add(ledger);
      if (ledger !== undefined) break;
      next = Math.max(next, fetched?.nextOffset ?? next);
    }
  }
  return [...found];
};
