import type { ExpiredReader, Journal, Overdue } from '../core/ports.js';
import { allPartitions } from '../core/partition.js';

/** Most overdue reservations of one partition that a pass looks at; the rest comes in the next. */
const PER_PARTITION_MAX = 100;

/** Most of them under way at once: callers share the journal's queue. */
const AT_ONCE = 500;

export interface ExpirySweeperParts {
  readonly expired: ExpiredReader;
  readonly journal: Journal;
  readonly partitions: number;
  /** Told how many expired in a pass. */
  readonly onExpired?: (count: number) => void;
}

/**
 * Gives back what nobody answered for in time, by an event (`Refunded`, reason `expired`), never by a Redis TTL.
 * The journal looks again under its lock, so two sweepers at once, or one that was asleep, do no harm.
 * Returns how many expired. Raises UnavailableError.
 */
export const sweepExpired = async (parts: ExpirySweeperParts, signal: AbortSignal): Promise<number> => {
  const partitions = allPartitions(parts.partitions);
  let total = 0;
  for (;;) {
    const overdue = await parts.expired.expired(partitions, PER_PARTITION_MAX);
    const expired = await expireAll(parts.journal, overdue);
    total += expired;
    if (signal.aborted || expired === 0) break;
  }
  if (total > 0) parts.onExpired?.(total);
  return total;
};

const expireAll = async (journal: Journal, overdue: readonly Overdue[]): Promise<number> => {
  let expired = 0;
  for (let at = 0; at < overdue.length; at += AT_ONCE) {
    const group = overdue.slice(at, at + AT_ONCE);
    const answers = await Promise.all(group.map(({ tenant, id }) => journal.append({ kind: 'expire', tenant, id })));
    expired += answers.filter(({ events }) => events.length > 0).length;
  }
  return expired;
};
