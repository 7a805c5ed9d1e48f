/** Appends that are broken on purpose, each at a point that is known: what must have happened is known too. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { FaultProxy } from '../stack/proxy.js';

export const BREAKS = ['locking', 'writing', 'reply_lost', 'unknown'] as const;
/**
 * locking: the backend dies while it waits for the head. writing: it dies with the whole transaction and COMMIT sent, at
 * the first row. Neither happened. reply_lost: committed, and the line breaks before the answer; the journal finds out.
 * unknown: the same, and Postgres can't be reached afterwards.
 */
export type Break = (typeof BREAKS)[number];

const HOLD_UP = {
  locking: 'begin; select position from holdfast.heads for update',
  writing: 'begin; lock table holdfast.events in share mode',
};
const BLOCKED = 'select distinct pid from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))';
const DEADLINE_MS = 10_000;

/** A group's writes with its COMMIT; a new connection's statements, as they are prepared, hold that word too. */
const isCommit = (request: Buffer): boolean =>
  request.includes('commit\0') && !request.includes('insert into holdfast.events');
const never = (): boolean => false;

export interface BreakParts {
  /** A client of the test's own, past the proxy. */
  readonly admin: pg.Client;
  /** What the journal's connections go through. */
  readonly proxy: FaultProxy;
}

/** Runs `send`, which appends and never raises, and breaks it. What writes nothing can only be broken while locking. */
export const broken = async <T>(how: Break, { admin, proxy }: BreakParts, send: () => Promise<T>): Promise<T> => {
  switch (how) {
    case 'locking':
    case 'writing':
      return killed(admin, HOLD_UP[how], send);
    case 'reply_lost': {
      void proxy.dropRepliesAfter(isCommit);
      const answer = await send();
      void proxy.dropRepliesAfter(never);
      return answer;
    }
    case 'unknown': {
      // The listener closes in the turn in which the line breaks: the journal's next connection is refused.
      void proxy.dropRepliesAfter(isCommit).then(() => proxy.refuse());
      const answer = await send();
      void proxy.dropRepliesAfter(never);
      await proxy.accept();
      return answer;
    }
  }
};

const killed = async <T>(admin: pg.Client, holdUp: string, send: () => Promise<T>): Promise<T> => {
  await admin.query(holdUp);
  const progress = { over: false };
  const answer = send().finally(() => {
    progress.over = true;
  });
  try {
    const blocked = await blockedBackend(admin, progress);
    if (blocked !== undefined) await admin.query('select pg_terminate_backend($1, 5000)', [blocked]);
  } finally {
    await admin.query('rollback');
  }
  return answer;
};

/** The backend that waits for what `admin` holds; undefined when the append was over without waiting. */
const blockedBackend = async (admin: pg.Client, progress: { readonly over: boolean }): Promise<number | undefined> => {
  const until = Date.now() + DEADLINE_MS;
  while (Date.now() < until) {
    const { rows } = await admin.query<{ pid: number }>(BLOCKED);
    if (rows[0] !== undefined) return rows[0].pid;
    if (progress.over) return undefined;
    await sleep(1);
  }
  throw new Error('The append neither ended nor waited for the lock.');
};
