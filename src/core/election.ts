import type { Elections } from './ports.js';

/**
 * Does `work` while this process holds an office of a partition, and gives the office back however it ends. Undefined,
 * at once, when another process holds it or Postgres is away. Raises what `work` raises.
 */
export const ifElected = async <T extends object>(
  elections: Elections,
  office: string,
  partition: number,
  work: () => Promise<T>,
): Promise<T | undefined> => {
  const elected = await elections.tryElect(office, partition);
  if (elected === undefined) return undefined;
  try {
    return await work();
  } finally {
    await elected.release();
  }
};
