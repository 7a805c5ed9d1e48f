import type { Head } from '../../core/ports.js';
import { hashArray, int4Array, int8Array } from '../binary.js';
import { call, command } from '../statement.js';
import type { Call, Statement } from '../statement.js';

/** A head as the appender needs it: time never goes back within a partition. */
export interface LockedHead extends Head {
  /** Milliseconds since 1970; 0 while the partition is empty. */
  readonly lastEventMs: number;
}

export const begin = command('begin', 'begin');
export const commit = command('commit', 'commit');
export const rollback = command('rollback', 'rollback');

/** Locks heads in the order of their partitions, so that no two groups wait for each other in a circle. */
export const lockHeads: Statement<LockedHead> = {
  name: 'lock_heads',
  text: `select partition, position, hash, last_event_ms from holdfast.heads
    where partition = any($1::int[]) order by partition for update`,
  read: (row) => ({ partition: row.int(0), position: row.int(1), hash: row.hex(2), lastEventMs: row.int(3) }),
};

/** What a group is decided under: Postgres's clock, and what the ledger says of those who may write. */
export interface Clock {
  /** Milliseconds since 1970, read when this statement ran: after the heads' locks, when it follows them. */
  readonly nowMs: number;
  readonly ledger: string;
  readonly incarnation: number;
  readonly oldestProgram: number;
}

export const readClock: Statement<Clock> = {
  name: 'read_clock',
  text: `select floor(extract(epoch from clock_timestamp()) * 1000)::bigint, id, incarnation, oldest_program
    from holdfast.ledger`,
  read: (row) => ({ nowMs: row.int(0), ledger: row.text(1), incarnation: row.int(2), oldestProgram: row.int(3) }),
};

const updateHeads = command(
  'update_heads',
  `update holdfast.heads h set position = n.position, hash = n.hash, last_event_ms = n.last_event_ms
    from unnest($1::int[], $2::bigint[], $3::bytea[], $4::bigint[]) as n(partition, position, hash, last_event_ms)
    where h.partition = n.partition`,
);

/** Moves heads to their partitions' new last events. */
export const writeHeads = (heads: readonly LockedHead[]): Call<never> =>
  call(
    updateHeads,
    int4Array(heads.map((h) => h.partition)),
    int8Array(heads.map((h) => h.position)),
    hashArray(heads.map((h) => h.hash)),
    int8Array(heads.map((h) => h.lastEventMs)),
  );

export const HEAD_STATEMENTS: readonly Statement<unknown>[] = [
  begin,
  commit,
  rollback,
  lockHeads,
  readClock,
  updateHeads,
];
