import { hash as digest } from 'node:crypto';
import { SYSTEM_TENANT } from '../../events/index.js';

/** The numbers of all partitions of a ledger that has `count`: 0, 1, 2 … */
export const allPartitions = (count: number): number[] => Array.from({ length: count }, (_, partition) => partition);

/**
 * The partition of a tenant: the first four bytes of SHA-256 of its name, as a big-endian whole number, modulo the number of partitions.
 * What belongs to no tenant stands in partition 0.
 */
export const partitionOf = (tenant: string, partitions: number): number =>
  tenant === SYSTEM_TENANT ? 0 : Number.parseInt(digest('sha256', tenant, 'hex').slice(0, 8), 16) % partitions;
