import type { WitnessedHead } from '../../core/checkpoints.js';
import type { Statement } from '../statement.js';

const hashAt = (partition: string, position: string): string =>
  `(select e.hash from holdfast.events e where e.partition = ${partition} and e.position = ${position})`;

/** A head with the ledger's incarnation and Postgres's clock (ms), which every row repeats. */
export interface HeadMomentRow {
  readonly head: WitnessedHead;
  readonly incarnation: number;
  readonly nowMs: number;
}

/**
 * One statement is one snapshot. Subselects and not joins: each stays an index look-up, whatever the planner thinks of
 * the table's size.
 */
export const readHeadsMoment: Statement<HeadMomentRow> = {
  name: 'read_heads_moment',
  text: `select h.partition, h.position, h.hash, ${hashAt('h.partition', 'h.position')},
      ${hashAt('h.partition', '(select k.position from unnest($1::int[], $2::bigint[]) as k(partition, position) where k.partition = h.partition)')},
      l.incarnation, floor(extract(epoch from statement_timestamp()) * 1000)::bigint
    from holdfast.heads h cross join holdfast.ledger l order by h.partition`,
  read: (row) => ({
    head: {
      partition: row.int(0),
      position: row.int(1),
      hash: row.hex(2),
      eventHash: row.optionalText(3)?.slice(2),
      askedHash: row.optionalText(4)?.slice(2),
    },
    incarnation: row.int(5),
    nowMs: row.int(6),
  }),
};

export const readHashesAt: Statement<string | undefined> = {
  name: 'read_hashes_at',
  text: `select ${hashAt('k.partition', 'k.position')}
    from unnest($1::int[], $2::bigint[]) with ordinality as k(partition, position, n) order by k.n`,
  read: (row) => row.optionalText(0)?.slice(2),
};

export const CHECKPOINT_STATEMENTS: readonly Statement<unknown>[] = [readHeadsMoment, readHashesAt];
