import type { StoredEvent } from '../../events/index.js';
import type { Readiness } from '../core/ports.js';
import type { MaxCost } from '../core/state.js';
import { allPartitions } from '../core/partition.js';

/**
 * Brings a new max_cost to every other partition: it is global, and each slot in Redis keeps a copy of its own, replaced
 * by a higher revision only. What is lost on the way is made good by the readiness keeper.
 */
export const spreadMaxCosts = async (
  readiness: Readiness,
  partitions: number,
  from: number,
  events: readonly StoredEvent[],
): Promise<void> => {
  const changed: MaxCost[] = events.flatMap(({ event }) =>
    event.name === 'MaxCostRaised' || event.name === 'MaxCostSet' ? [event.data] : [],
  );
  if (changed.length === 0) return;
  const others = allPartitions(partitions).filter((p) => p !== from);
  await Promise.all(others.map((partition) => readiness.putMaxCosts(partition, changed)));
};
