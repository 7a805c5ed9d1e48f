import type { Population } from '../../core/population.js';
import type { Checkpoint } from '../../core/ports.js';
import type { Account } from '../../core/state.js';
import { command } from '../statement.js';
import type { Statement } from '../statement.js';
import { ACCOUNT_COLUMNS, accountFrom } from './accounts.js';
import { headFrom } from './log.js';
import { RESERVATION_COLUMNS, reservationFrom } from './reservations.js';
import type { ReservationRow } from './reservations.js';

export const beginSnapshot = command('begin_snapshot', 'begin isolation level repeatable read read only');

/** The partition's head, and the moment: the first read of a snapshot, which fixes it. */
export const readSnapshotHead: Statement<{ readonly head: Checkpoint; readonly nowMs: number }> = {
  name: 'read_snapshot_head',
  text: `select h.partition, h.position, h.hash, l.incarnation, floor(extract(epoch from statement_timestamp()) * 1000)::bigint
    from holdfast.heads h cross join holdfast.ledger l where h.partition = $1::int`,
  read: (row) => ({ head: { ...headFrom(row), incarnation: row.int(3) }, nowMs: row.int(4) }),
};

/** In no order asked for: asking would tempt the planner to walk all partitions by the primary key. */
export const walkAccounts: Statement<Account> = {
  name: 'walk_accounts',
  text: `select ${ACCOUNT_COLUMNS} from holdfast.accounts a where a.partition = $1::int`,
  read: accountFrom,
};

export const walkOpen: Statement<ReservationRow> = {
  name: 'walk_open_reservations',
  text: `select ${RESERVATION_COLUMNS} from holdfast.reservations r
    where r.partition = $1::int and r.state = 'open' order by r.expires_at_ms`,
  read: reservationFrom,
};

/** Those closed at a time ($2, ms) or later. */
export const walkClosed: Statement<ReservationRow> = {
  name: 'walk_closed_reservations',
  text: `select ${RESERVATION_COLUMNS} from holdfast.reservations r
    where r.partition = $1::int and r.state <> 'open' and r.closed_at_ms >= $2::bigint order by r.closed_at_ms`,
  read: reservationFrom,
};

/** One statement, so one moment. */
export const readPopulation: Statement<Population> = {
  name: 'read_population',
  text: `select h.partition, h.position, h.hash,
      (select count(*) from holdfast.accounts a where a.partition = h.partition),
      (select count(*) from holdfast.reservations r where r.partition = h.partition and r.state = 'open')
    from holdfast.heads h where h.partition = $1::int`,
  read: (row) => ({ head: headFrom(row), accounts: row.int(3), openReservations: row.int(4) }),
};

export const SNAPSHOT_STATEMENTS: readonly Statement<unknown>[] = [
  beginSnapshot,
  readSnapshotHead,
  readPopulation,
  walkAccounts,
  walkOpen,
  walkClosed,
];
