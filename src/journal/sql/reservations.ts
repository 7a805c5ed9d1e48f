import { LEVELS } from '../../../events/index.js';
import type { Reservation, ReservationState } from '../../core/state.js';
import { boolArray, int4Array, int8Array, textArray } from '../binary.js';
import type { BinaryParameter } from '../binary.js';
import { decodeAmounts, decodeMetadata, decodeObject, encodeAmounts } from '../json.js';
import type { JsonObject } from '../json.js';
import type { Row } from '../row.js';
import { call, command } from '../statement.js';
import type { Call, Statement } from '../statement.js';

const STATES: readonly ReservationState[] = ['open', 'finalized', 'refunded'];

/** A reservation with the positions of its events. */
export interface ReservationRow {
  readonly reservation: Reservation;
  readonly positions: readonly number[];
}

/** The columns that `reservationFrom` reads, of a table called `r`. */
export const RESERVATION_COLUMNS = `r.tenant, r.id, r.state, r.opened, r.accounts, r.units, r.model, r.expires_at_ms,
  r.position, r.closed_position, r.positions, r.body`;

/** A reservation from a row of RESERVATION_COLUMNS. Raises an Error that names what is not as it must be. */
export const reservationFrom = (row: Row): ReservationRow => {
  const units = row.texts(5);
  const model = row.optionalText(6);
  const closedPosition = row.optionalInt(9);
  const reservation: Reservation = {
    tenant: row.text(0),
    id: row.text(1),
    state: row.oneOf(2, STATES),
    opened: row.bool(3),
    accounts: row.texts(4).map((account, index) => ({ account, unit: units[index] ?? '' })),
    ...(model === undefined ? {} : { model }),
    expiresAtMs: row.int(7),
    position: row.int(8),
    ...(closedPosition === undefined ? {} : { closedPosition }),
    ...restFrom(decodeObject(row.text(11))),
  };
  return { reservation, positions: row.ints(10) };
};

type Rest = Pick<
  Reservation,
  'held' | 'requested' | 'ttlSeconds' | 'level' | 'cost' | 'late' | 'raised' | 'reason' | 'metadata'
>;

/** What people rarely ask SQL for: one JSON, with names as in events. */
const bodyOf = (r: Rest): string =>
  JSON.stringify({
    held: encodeAmounts(r.held),
    requested: encodeAmounts(r.requested),
    ttl_seconds: r.ttlSeconds,
    level: r.level,
    cost: r.cost === undefined ? undefined : encodeAmounts(r.cost),
    late: r.late,
    raised: r.raised === undefined ? undefined : encodeAmounts(r.raised),
    reason: r.reason,
    metadata: r.metadata,
  });

const restFrom = (body: JsonObject): Rest => {
  const { ttl_seconds: ttlSeconds, level: levelName, late, reason } = body;
  const level = LEVELS.find((one) => one === levelName);
  if (typeof ttlSeconds !== 'number' || level === undefined) throw new Error('A stored reservation is not readable.');
  return {
    held: decodeAmounts(body['held']),
    requested: decodeAmounts(body['requested']),
    ttlSeconds,
    level,
    ...(body['cost'] === undefined ? {} : { cost: decodeAmounts(body['cost']) }),
    ...(typeof late === 'boolean' ? { late } : {}),
    ...(body['raised'] === undefined ? {} : { raised: decodeAmounts(body['raised']) }),
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(body['metadata'] === undefined ? {} : { metadata: decodeMetadata(JSON.stringify(body['metadata'])) }),
  };
};

/** Reservations by (tenants, ids). */
export const readReservations: Statement<ReservationRow> = {
  name: 'read_reservations',
  text: `select ${RESERVATION_COLUMNS} from unnest($1::text[], $2::text[]) as k(tenant, id)
    join holdfast.reservations r on r.tenant = k.tenant and r.id = k.id`,
  read: reservationFrom,
};

/** A reservation to be written: it was opened, or changed. */
export interface ReservationWrite extends ReservationRow {
  readonly partition: number;
  /** The time of the event that closed it, ms since 1970; absent while open. */
  readonly closedAtMs?: number;
}

/*
 * `accounts` and `units` are arrays themselves: unnest would flatten arrays of arrays, so they travel as text
 * (identifiers and units need no quoting there, but for one that reads NULL: it is quoted like all others).
 */
const arrayText = (names: readonly string[]): string => `{${names.map((name) => `"${name}"`).join(',')}}`;

const openReservations = command(
  'insert_reservations',
  `insert into holdfast.reservations (tenant, id, partition, state, opened, accounts, units, model, expires_at_ms,
      position, closed_position, closed_at_ms, positions, body)
    select tenant, id, partition, state, opened, accounts::text[], units::text[], model, expires_at_ms,
      position, closed_position, closed_at_ms, positions::bigint[], body
    from unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::bool[], $6::text[], $7::text[], $8::text[],
      $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::text[], $14::text[])
      as n(tenant, id, partition, state, opened, accounts, units, model, expires_at_ms,
        position, closed_position, closed_at_ms, positions, body)`,
);

/** Writes reservations whose id was not known before. */
export const insertReservations = (rows: readonly ReservationWrite[]): Call<never> =>
  call(
    openReservations,
    textArray(rows.map((r) => r.reservation.tenant)),
    textArray(rows.map((r) => r.reservation.id)),
    int4Array(rows.map((r) => r.partition)),
    textArray(rows.map((r) => r.reservation.state)),
    boolArray(rows.map((r) => r.reservation.opened)),
    textArray(rows.map((r) => arrayText(r.reservation.accounts.map((a) => a.account)))),
    textArray(rows.map((r) => arrayText(r.reservation.accounts.map((a) => a.unit)))),
    textArray(rows.map((r) => r.reservation.model)),
    int8Array(rows.map((r) => r.reservation.expiresAtMs)),
    int8Array(rows.map((r) => r.reservation.position)),
    ...changing(rows),
  );

const changeReservations = command(
  'update_reservations',
  `update holdfast.reservations r
    set state = n.state, expires_at_ms = n.expires_at_ms, closed_position = n.closed_position,
      closed_at_ms = n.closed_at_ms, positions = n.positions::bigint[], body = n.body
    from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[])
      as n(tenant, id, state, expires_at_ms, closed_position, closed_at_ms, positions, body)
    where r.tenant = n.tenant and r.id = n.id`,
);

/** Writes what can change of reservations that exist. */
export const updateReservations = (rows: readonly ReservationWrite[]): Call<never> =>
  call(
    changeReservations,
    textArray(rows.map((r) => r.reservation.tenant)),
    textArray(rows.map((r) => r.reservation.id)),
    textArray(rows.map((r) => r.reservation.state)),
    int8Array(rows.map((r) => r.reservation.expiresAtMs)),
    ...changing(rows),
  );

const changing = (rows: readonly ReservationWrite[]): BinaryParameter[] => [
  int8Array(rows.map((r) => r.reservation.closedPosition)),
  int8Array(rows.map((r) => r.closedAtMs)),
  textArray(rows.map((r) => `{${r.positions.join(',')}}`)),
  textArray(rows.map((r) => bodyOf(r.reservation))),
];

export const RESERVATION_STATEMENTS: readonly Statement<unknown>[] = [
  readReservations,
  openReservations,
  changeReservations,
];
