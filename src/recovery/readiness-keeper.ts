import type { Head, JournalReader } from '../core/ports.js';
import type { PartitionInfo, Readiness } from '../core/redis-ports.js';
import { allPartitions } from '../core/partition.js';

export interface ReadinessKeeperParts {
  readonly readiness: Readiness;
  readonly reader: Pick<JournalReader, 'heads' | 'maxCosts'>;
  /** Applies from the journal what Redis lacks. */
  readonly catchUp: (partition: number) => Promise<void>;
  /** False: another process is at it already. */
  readonly rebuild: (partition: number, why: string) => Promise<boolean>;
  readonly partitions: number;
}

/** What one look at Redis found, in numbers of partitions. */
export interface ReadinessReport {
  readonly ready: number;
  readonly behind: number;
  readonly rebuilt: number;
  readonly unreachable: number;
  /** Events that Redis has not applied yet, over all partitions. */
  readonly lag: number;
  /** The same for each partition that was asked. */
  readonly lags: ReadonlyMap<number, number>;
}

/** Partitions that are looked after at once. */
const AT_ONCE = 8;

/** What a keeper remembers from one look to the next: where each partition stood. */
export type LastSeen = Map<number, number>;

/**
 * One look at every partition: what has no checkpoint, or stands ahead of the journal, is rebuilt; what is behind and has
 * not moved since the last look is caught up; what is caught up and not ready is made ready. Any node may do it, several
 * at once: an election only saves work, the scripts' tokens and epochs keep it right. One partition's failure does not
 * keep the others waiting. Raises UnavailableError when Postgres is away, and RebuildLostError when a rebuild was lost.
 */
export const keepReady = async (
  parts: ReadinessKeeperParts,
  lastSeen: LastSeen,
  signal: AbortSignal,
): Promise<ReadinessReport> => {
  const partitions = allPartitions(parts.partitions);
  // Redis first: whatever it shows was committed before, so a head read afterwards can only be further.
  const info = await parts.readiness.info(partitions);
  const heads = await parts.reader.heads(partitions);
  const look: Look = { ready: 0, behind: 0, rebuilt: 0, unreachable: 0, lag: 0, lags: new Map(), lastSeen };
  const failures: unknown[] = [];
  for (let at = 0; at < heads.length && !signal.aborted; at += AT_ONCE) {
    const batch = heads.slice(at, at + AT_ONCE).map((head) => keepOne(parts, info.get(head.partition), head, look));
    for (const outcome of await Promise.allSettled(batch))
      if (outcome.status === 'rejected') failures.push(outcome.reason);
  }
  if (failures.length > 0) throw failures[0];
  return look;
};

interface Look extends ReadinessReport {
  ready: number;
  behind: number;
  rebuilt: number;
  unreachable: number;
  lag: number;
  readonly lags: Map<number, number>;
  readonly lastSeen: LastSeen;
}

const keepOne = async (
  parts: ReadinessKeeperParts,
  info: PartitionInfo | undefined,
  head: Head,
  look: Look,
): Promise<void> => {
  const { partition } = head;
  if (info === undefined) {
    look.unreachable += 1;
    return;
  }
  const position = info.checkpoint?.position;
  if (position === undefined || info.rebuilding) return rebuildAndReady(parts, partition, 'no checkpoint', look);
  if (position > head.position) return rebuildAndReady(parts, partition, 'Redis stands ahead of the journal', look);
  look.lag += head.position - position;
  look.lags.set(partition, head.position - position);
  if (position < head.position) {
    look.behind += 1;
    // Under traffic Redis is always a little behind; it is left alone as long as it moves.
    if (!info.ready || look.lastSeen.get(partition) === position) await parts.catchUp(partition);
  }
  look.lastSeen.set(partition, position);
  if (info.ready) look.ready += 1;
  else if (await makeReady(parts, partition)) look.ready += 1;
};

const rebuildAndReady = async (
  parts: ReadinessKeeperParts,
  partition: number,
  why: string,
  look: Look,
): Promise<void> => {
  if (!(await parts.rebuild(partition, why))) return;
  look.rebuilt += 1;
  if (await makeReady(parts, partition)) look.ready += 1;
};

/** The head is read after the epoch was raised, so whatever an older epoch's node acknowledged is at or before it. */
const makeReady = async (parts: ReadinessKeeperParts, partition: number): Promise<boolean> => {
  const [head] = await parts.reader.heads([partition]);
  if (head === undefined) return false;
  if (!(await parts.readiness.putMaxCosts(partition, await parts.reader.maxCosts()))) return false;
  const outcome = await parts.readiness.ready(partition, head.position);
  if (outcome !== 'behind') return outcome === 'ready';
  await parts.catchUp(partition);
  return (await parts.readiness.ready(partition, head.position)) === 'ready';
};
