import type { Orphans } from '../core/redis-ports.js';

/** Most orphans of one partition in one pass. */
const PER_PARTITION_MAX = 100;

/**
 * Gives back speculations that are older than 30 s on Redis's clock and that nobody answered for (design, section 2).
 * None of them was acknowledged: should the late original still commit, Postgres guards it and the apply deducts.
 * Returns how many were found and how many were given back.
 */
export const sweepOrphans = async (
  orphans: Orphans,
  partitions: number,
  signal: AbortSignal,
): Promise<{ readonly found: number; readonly given: number }> => {
  let [found, given] = [0, 0];
  for (let partition = 0; partition < partitions && !signal.aborted; partition += 1)
    for (const { tenant, id } of await orphans.orphans(partition, PER_PARTITION_MAX)) {
      found += 1;
      if (await orphans.voidOrphan(partition, tenant, id)) given += 1;
    }
  return { found, given };
};
