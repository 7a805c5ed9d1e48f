import { slotOf } from './keys.js';
import type { PartitionKeys } from './keys.js';
import { addressText } from './settings.js';
import type { Address } from './settings.js';

/** A master and the partitions whose slot it serves. */
export interface Share {
  readonly address: Address;
  readonly partitions: readonly number[];
}

interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly master: Address;
}

/** Reads the answer to CLUSTER SLOTS. A server without a name of its own is the one that was asked. */
const readRanges = (answer: unknown, asked: Address): SlotRange[] =>
  (Array.isArray(answer) ? (answer as unknown[]) : []).flatMap((range): SlotRange[] => {
    if (!Array.isArray(range)) return [];
    const [from, to, master] = range as readonly unknown[];
    if (typeof from !== 'number' || typeof to !== 'number' || !Array.isArray(master)) return [];
    const [host, port] = master as readonly unknown[];
    if (typeof port !== 'number') return [];
    return [{ from, to, master: { host: typeof host === 'string' && host !== '' ? host : asked.host, port } }];
  });

/** Which master holds which partition. A partition whose slot nobody serves is in no share. */
export const sharesOf = (answer: unknown, asked: Address, keys: readonly PartitionKeys[]): Share[] => {
  const ranges = readRanges(answer, asked);
  const shares = new Map<string, { address: Address; partitions: number[] }>();
  keys.forEach((partitionKeys, partition) => {
    const slot = slotOf(partitionKeys);
    const range = ranges.find(({ from, to }) => from <= slot && slot <= to);
    if (range === undefined) return;
    const name = addressText(range.master);
    const share = shares.get(name) ?? { address: range.master, partitions: [] };
    share.partitions.push(partition);
    shares.set(name, share);
  });
  return [...shares.values()];
};
