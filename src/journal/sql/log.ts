import type { EventRow } from '../../core/audit.js';
import type { Head, Overdue } from '../../core/ports.js';
import type { Row } from '../row.js';
import type { Statement } from '../statement.js';

const eventFrom = (row: Row): EventRow => ({ position: row.int(0), hash: row.hex(1), body: row.text(2) });

/** A head from a row of partition, position, hash. */
export const headFrom = (row: Row): Head => ({ partition: row.int(0), position: row.int(1), hash: row.hex(2) });

export const readHeads: Statement<Head> = {
  name: 'read_heads',
  text: 'select partition, position, hash from holdfast.heads where partition = any($1::int[]) order by partition',
  read: headFrom,
};

export const readAllHeads: Statement<Head> = {
  name: 'read_all_heads',
  text: 'select partition, position, hash from holdfast.heads order by partition',
  read: headFrom,
};

/** How many bytes of bodies one read gives, about. */
const BYTES_MAX = 1_048_576;

/**
 * Events from a position on ($2, whose body is left out: only its hash is wanted, as the link before the first), at
 * most $3 rows and about 1 MiB.
 */
export const readEvents: Statement<EventRow> = {
  name: 'read_events',
  text: `select position, hash, case when position = $2::bigint then '' else body end from (
      select position, hash, body, sum(octet_length(body)) over (order by position) - octet_length(body) as bytes_before
      from (
        select position, hash, body from holdfast.events
        where partition = $1::int and position >= $2::bigint order by position limit $3::bigint
      ) page
    ) sized
    where bytes_before < ${BYTES_MAX.toString()} order by position`,
  read: eventFrom,
};

/** All events of a partition up to a position, for streaming. */
export const walkEvents: Statement<EventRow> = {
  name: 'walk_events',
  text: `select position, hash, body from holdfast.events
    where partition = $1::int and position <= $2::bigint order by position`,
  read: eventFrom,
};

/** An event with the hash of the one before; undefined for position 1. */
export interface LinkedEventRow extends EventRow {
  readonly prevHash: string | undefined;
}

/** An event from a row of position, hash, body, and the hash of the one before. */
export const linkedEventFrom = (row: Row): LinkedEventRow => ({
  ...eventFrom(row),
  prevHash: row.optionalText(3)?.slice(2),
});

/** Given events of a partition, in order. */
export const readEventsAt: Statement<LinkedEventRow> = {
  name: 'read_events_at',
  text: `select e.position, e.hash, e.body, p.hash from holdfast.events e
    left join holdfast.events p on p.partition = e.partition and p.position = e.position - 1
    where e.partition = $1::int and e.position = any($2::bigint[]) order by e.position`,
  read: linkedEventFrom,
};

/** Open reservations past their time; $2 is the most of each partition. */
export const readExpired: Statement<Overdue> = {
  name: 'read_expired',
  text: `select r.partition, r.tenant, r.id, r.expires_at_ms from unnest($1::int[]) as k(partition)
    cross join lateral (
      select partition, tenant, id, expires_at_ms from holdfast.reservations o
      where o.partition = k.partition and o.state = 'open'
        and o.expires_at_ms <= floor(extract(epoch from statement_timestamp()) * 1000)::bigint
      order by o.expires_at_ms limit $2::bigint
    ) r`,
  read: (row) => ({ partition: row.int(0), tenant: row.text(1), id: row.text(2), expiresAtMs: row.int(3) }),
};

export const LOG_STATEMENTS: readonly Statement<unknown>[] = [
  readHeads,
  readAllHeads,
  readEvents,
  walkEvents,
  readEventsAt,
  readExpired,
];
