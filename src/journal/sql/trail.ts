import type { Buckets } from '../../../events/index.js';
import type { AccountAt } from '../../core/history.js';
import type { Row } from '../row.js';
import type { Statement } from '../statement.js';
import { ACCOUNT_COLUMNS, accountFrom } from './accounts.js';
import { linkedEventFrom } from './log.js';
import type { LinkedEventRow } from './log.js';

/** Which positions of an account's partition lie before two times ($2, $3: ms, or NULL): those up to the last one not later than each. */
export interface TrailBounds {
  readonly partition: number;
  readonly upToFirst: number | undefined;
  readonly upToSecond: number | undefined;
}

export const readBounds: Statement<TrailBounds> = {
  name: 'read_trail_bounds',
  text: `select a.partition,
      case when $2::bigint is not null then holdfast.position_at(a.partition, $2::bigint) end,
      case when $3::bigint is not null then holdfast.position_at(a.partition, $3::bigint) end
    from holdfast.accounts a where a.account = $1::text`,
  read: (row) => ({ partition: row.int(0), upToFirst: row.optionalInt(1), upToSecond: row.optionalInt(2) }),
};

/** An event of an account's trail, with the account's buckets right after it. */
export interface TrailEventRow extends LinkedEventRow {
  readonly after: Buckets;
}

const trailEventFrom = (row: Row): TrailEventRow => ({
  ...linkedEventFrom(row),
  after: { available: row.bigint(4), held: row.bigint(5), used: row.bigint(6), funded: row.bigint(7) },
});

const trail = (order: 'asc' | 'desc'): string =>
  `select e.position, e.hash, e.body, prev.hash, p.available, p.held, p.used, p.funded
    from (
      select * from holdfast.postings
      where account = $1::text and position > $2::bigint and position < $3::bigint order by position ${order} limit $4::bigint
    ) p
    join holdfast.events e on e.partition = p.partition and e.position = p.position
    left join holdfast.events prev on prev.partition = p.partition and prev.position = p.position - 1
    order by p.position ${order}`;

/** Between two positions, both exclusive: the oldest first. */
export const readTrailForward: Statement<TrailEventRow> = {
  name: 'read_trail_forward',
  text: trail('asc'),
  read: trailEventFrom,
};

/** Between two positions, both exclusive: the newest first. */
export const readTrailBackward: Statement<TrailEventRow> = {
  name: 'read_trail_backward',
  text: trail('desc'),
  read: trailEventFrom,
};

const accountAtFrom = (row: Row): AccountAt => ({
  account: accountFrom(row),
  position: row.int(12),
  asOfMs: row.int(13),
});

/** The account now, as of its partition's head and Postgres's clock. */
export const readAccountNow: Statement<AccountAt> = {
  name: 'read_account_now',
  text: `select ${ACCOUNT_COLUMNS}, h.position, floor(extract(epoch from statement_timestamp()) * 1000)::bigint
    from holdfast.accounts a join holdfast.heads h on h.partition = a.partition where a.account = $1::text`,
  read: accountAtFrom,
};

/** The account as of a position ($2) or a time ($3, ms) of its partition; no row when it did not exist then. */
export const readAccountAt: Statement<AccountAt> = {
  name: 'read_account_at',
  text: `select a.account, a.tenant, a.unit, a.scale, a.overdraft_limit, a.exempt,
      p.available, p.held, p.used, p.funded, p.position, a.metadata, t.position, holdfast.event_ms(e.body)
    from holdfast.accounts a
    join holdfast.heads h on h.partition = a.partition
    cross join lateral (
      select least(coalesce($2::bigint, holdfast.position_at(a.partition, $3::bigint)), h.position) as position offset 0
    ) t
    cross join lateral (
      select * from holdfast.postings p where p.account = a.account and p.position <= t.position
      order by p.position desc limit 1
    ) p
    join holdfast.events e on e.partition = a.partition and e.position = t.position
    where a.account = $1::text`,
  read: accountAtFrom,
};

export const TRAIL_STATEMENTS: readonly Statement<unknown>[] = [
  readBounds,
  readTrailForward,
  readTrailBackward,
  readAccountNow,
  readAccountAt,
];
