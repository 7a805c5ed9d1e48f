import type { AccountAt, AsOf, ReservationHistory, TrailPage, TrailSlice } from '../core/history.js';
import { partitionOf } from '../core/partition.js';
import type { TrailReader } from '../core/ports.js';
import { int8Array, textArray } from './binary.js';
import { linkedFrom } from './events-from.js';
import type { EventSource } from './events-from.js';
import type { Sessions } from './sessions.js';
import { readEventsAt } from './sql/log.js';
import { readReservations } from './sql/reservations.js';
import { readAccountAt, readAccountNow, readBounds, readTrailBackward, readTrailForward } from './sql/trail.js';
import type { TrailBounds } from './sql/trail.js';
import { call } from './statement.js';

const PAGE_MAX = 1_000;
/** A reservation can be extended any number of times; of longer histories the latest events are given. */
const HISTORY_MAX = 1_000;

/** The past of accounts and reservations. Every call raises UnavailableError when Postgres can't be asked. */
export class PostgresTrail implements TrailReader {
  readonly #sessions: Sessions;
  readonly #source: EventSource;
  readonly #partitions: number;

  constructor(sessions: Sessions, source: EventSource & { readonly partitions: number }) {
    this.#sessions = sessions;
    this.#source = source;
    this.#partitions = source.partitions;
  }

  async trail(account: string, page: TrailPage): Promise<TrailSlice> {
    const limit = Math.min(Math.max(page.limit, 1), PAGE_MAX);
    return this.#sessions.read(async (session) => {
      const beforeFrom = page.fromMs === undefined ? null : (page.fromMs - 1).toString();
      const beforeTo = page.toMs === undefined ? null : (page.toMs - 1).toString();
      const [[bounds]] = await session.run(call(readBounds, account, beforeFrom, beforeTo));
      if (bounds === undefined) return { entries: [] };
      const { above, below } = between(bounds, page);
      const statement = page.order === 'oldest_first' ? readTrailForward : readTrailBackward;
      const [rows] = await session.run(
        call(statement, account, above.toString(), below.toString(), (limit + 1).toString()),
      );
      const entries = rows
        .slice(0, limit)
        .map((row) => ({ stored: linkedFrom(this.#source, bounds.partition, row), balanceAfter: row.after }));
      const next = rows.length > limit ? rows[limit - 1]?.position : undefined;
      return next === undefined ? { entries } : { entries, next };
    });
  }

  async accountAt(account: string, at?: AsOf): Promise<AccountAt | undefined> {
    const read =
      at === undefined
        ? call(readAccountNow, account)
        : 'position' in at
          ? call(readAccountAt, account, at.position.toString(), null)
          : call(readAccountAt, account, null, at.timeMs.toString());
    const [[found]] = await this.#sessions.read((session) => session.run(read));
    return found;
  }

  async reservationHistory(tenant: string, id: string): Promise<ReservationHistory | undefined> {
    const partition = partitionOf(tenant, this.#partitions);
    return this.#sessions.read(async (session) => {
      const [[found]] = await session.run(call(readReservations, textArray([tenant]), textArray([id])));
      if (found === undefined) return undefined;
      const positions = int8Array(found.positions.slice(-HISTORY_MAX));
      const [rows] = await session.run(call(readEventsAt, partition.toString(), positions));
      const events = rows.map((row) => linkedFrom(this.#source, partition, row));
      return { reservation: found.reservation, events };
    });
  }
}

/** The positions, both exclusive, that a page lies between. */
const between = ({ upToFirst, upToSecond }: TrailBounds, page: TrailPage): { above: number; below: number } => {
  const forward = page.order === 'oldest_first';
  const above = Math.max(upToFirst ?? 0, forward ? (page.after ?? 0) : 0);
  const last = upToSecond === undefined ? Number.MAX_SAFE_INTEGER : upToSecond + 1;
  const below = forward ? last : Math.min(last, page.after ?? Number.MAX_SAFE_INTEGER);
  return { above, below };
};
