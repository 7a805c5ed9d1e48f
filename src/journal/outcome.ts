import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredEvent } from '../../events/index.js';
import { int4Array, int8Array } from './binary.js';
import { FencedError, LedgerMismatchError } from './errors.js';
import type { Session } from './session.js';
import { readHashes } from './sql/events.js';
import { begin, lockHeads, rollback } from './sql/heads.js';
import { call } from './statement.js';

export interface LearnedOutcome {
  readonly committed: boolean;
  /** The connection over which it was learnt, ready for the next group. */
  readonly session: Session;
}

const PAUSE_MS_MIN = 20;
const PAUSE_MS_MAX = 1_000;

/**
 * Learns whether a group whose COMMIT got no answer was committed: takes the locks of its heads (which waits for the old
 * transaction to end, one way or the other) and compares the events at its first positions with ours, by hash.
 * Tries until `deadlineMs` (ms since 1970, this machine's clock); undefined when Postgres stayed away.
 */
export const learnOutcome = async (
  events: readonly StoredEvent[],
  openSession: () => Promise<Session>,
  deadlineMs: number,
): Promise<LearnedOutcome | undefined> => {
  const firsts = firstOfEach(events);
  for (let pause = PAUSE_MS_MIN; Date.now() < deadlineMs; pause = Math.min(pause * 2, PAUSE_MS_MAX)) {
    let session: Session | undefined;
    try {
      session = await openSession();
      return { committed: await wasCommitted(session, firsts), session };
    } catch (error) {
      session?.destroy();
      if (error instanceof LedgerMismatchError) throw error;
      // Whether it happened is for the operator to find out now.
      if (error instanceof FencedError) return undefined;
    }
    await sleep(Math.min(pause, Math.max(0, deadlineMs - Date.now())));
  }
  return undefined;
};

const firstOfEach = (events: readonly StoredEvent[]): readonly StoredEvent[] => {
  const firsts = new Map<number, StoredEvent>();
  for (const stored of events) if (!firsts.has(stored.event.partition)) firsts.set(stored.event.partition, stored);
  return [...firsts.values()];
};

const wasCommitted = async (session: Session, firsts: readonly StoredEvent[]): Promise<boolean> => {
  const partitions = int4Array(firsts.map((e) => e.event.partition));
  const positions = int8Array(firsts.map((e) => e.event.position));
  const [, , found] = await session.run(
    call(begin),
    call(lockHeads, partitions),
    call(readHashes, partitions, positions),
    call(rollback),
  );
  const hashes = new Map(found.map((row) => [row.partition, row.hash]));
  const ours = firsts.filter((e) => hashes.get(e.event.partition) === e.hash).length;
  if (ours !== 0 && ours !== firsts.length)
    throw new LedgerMismatchError('One transaction was committed in some partitions and not in others.');
  return ours > 0;
};
