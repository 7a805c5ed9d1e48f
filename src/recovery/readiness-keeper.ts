import type { Elections, Head, JournalReader } from '../core/ports.js';
import type { PartitionInfo, Readiness } from '../core/redis-ports.js';

export interface ReadinessKeeperParts {
  readonly readiness: Readiness;
  readonly reader: Pick<JournalReader, 'heads' | 'maxCosts'>;
  readonly elections: Elections;
  /** Applies from the journal what Redis lacks. */
  readonly catchUp: (partition: number) => Promise<void>;
  readonly rebuild: (partition: number, why: string) => Promise<void>;
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
}

/**
 * One look at every partition: what has no checkpoint, or stands ahead of the journal, is rebuilt; what is behind is
 * caught up; what is caught up and not ready is made ready. Any node may do it, several at once: an election only saves
 * work, the scripts' tokens and epochs keep it right. Raises UnavailableError when Postgres is away.
 */
export const keepReady = async (parts: ReadinessKeeperParts, signal: AbortSignal): Promise<ReadinessReport> => {
  const partitions = Array.from({ length: parts.partitions }, (_, partition) => partition);
  // Redis first: whatever it shows was committed before, so a head read afterwards can only be further.
  const info = await parts.readiness.info(partitions);
  const heads = await parts.reader.heads(partitions);
  const report = { ready: 0, behind: 0, rebuilt: 0, unreachable: 0, lag: 0 };
  for (const head of heads) {
    if (signal.aborted) break;
    const of = info.get(head.partition);
    if (of === undefined) report.unreachable += 1;
    else await keepOne(parts, of, head, report);
  }
  return report;
};

type Counts = { -readonly [K in keyof ReadinessReport]: number };

const keepOne = async (parts: ReadinessKeeperParts, info: PartitionInfo, head: Head, report: Counts): Promise<void> => {
  const { partition } = head;
  const position = info.checkpoint?.position;
  if (position === undefined || info.rebuilding) return rebuildElected(parts, partition, 'no checkpoint', report);
  if (position > head.position) return rebuildElected(parts, partition, 'Redis stands ahead of the journal', report);
  report.lag += head.position - position;
  if (position < head.position) {
    report.behind += 1;
    await parts.catchUp(partition);
  }
  if (info.ready) report.ready += 1;
  else if (await makeReady(parts, partition)) report.ready += 1;
};

const rebuildElected = async (
  parts: ReadinessKeeperParts,
  partition: number,
  why: string,
  report: Counts,
): Promise<void> => {
  const elected = await parts.elections.tryElect('rebuild', partition);
  if (elected === undefined) return;
  try {
    await parts.rebuild(partition, why);
    report.rebuilt += 1;
  } finally {
    await elected.release();
  }
  if (await makeReady(parts, partition)) report.ready += 1;
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
