import type { SealedEvent, StoredEvent } from '../../events/index.js';
import type { EventRow } from '../core/audit.js';
import type {
  ExpiredReader,
  Head,
  JournalReader,
  Overdue,
  SealedReader,
  TotalsReader,
  UnitTotal,
} from '../core/ports.js';
import type { Account, Funding, MaxCost, Reservation } from '../core/state.js';
import { int4Array, textArray } from './binary.js';
import { LedgerMismatchError } from './errors.js';
import { runFrom, sealedRunFrom } from './events-from.js';
import type { EventSource } from './events-from.js';
import type { Sessions } from './sessions.js';
import { readAccounts, sumAccounts } from './sql/accounts.js';
import { readFundings } from './sql/fundings.js';
import { readClock } from './sql/heads.js';
import { readEvents, readAllHeads, readExpired, readHeads } from './sql/log.js';
import { readAllMaxCosts, readMaxCosts } from './sql/max-costs.js';
import { readReservations } from './sql/reservations.js';
import { call } from './statement.js';

const NONE = textArray([]);
/** The most that one read of the log gives. */
const READ_MAX = 10_000;

/** The journal's present, and its log by position. Every call raises UnavailableError when Postgres can't be asked. */
export class PostgresReader implements JournalReader, SealedReader, ExpiredReader, TotalsReader {
  readonly #sessions: Sessions;
  readonly #source: EventSource;

  constructor(sessions: Sessions, source: EventSource) {
    this.#sessions = sessions;
    this.#source = source;
  }

  async heads(partitions?: readonly number[]): Promise<Head[]> {
    const read = partitions === undefined ? call(readAllHeads) : call(readHeads, int4Array(partitions));
    const [heads] = await this.#sessions.read((session) => session.run(read));
    return heads;
  }

  /** Raises also UnknownEventError when the log holds an event that this program does not know. */
  async read(partition: number, after: number, limit: number): Promise<StoredEvent[]> {
    return runFrom(this.#source, partition, after, await this.#rows(partition, after, limit));
  }

  async readSealed(partition: number, after: number, limit: number): Promise<SealedEvent[]> {
    return sealedRunFrom(this.#source, partition, after, await this.#rows(partition, after, limit));
  }

  /** The row at a position, where there is one, and those behind it. */
  async #rows(partition: number, after: number, limit: number): Promise<EventRow[]> {
    const rowsMax = Math.min(limit, READ_MAX) + (after === 0 ? 0 : 1);
    const [rows] = await this.#sessions.read((session) =>
      session.run(call(readEvents, partition.toString(), after.toString(), rowsMax.toString())),
    );
    return rows;
  }

  /** The ledger's incarnation. */
  async incarnation(): Promise<number> {
    const [[clock]] = await this.#sessions.read((session) => session.run(call(readClock)));
    if (clock === undefined) throw new LedgerMismatchError('The database has no ledger any more.');
    return clock.incarnation;
  }

  async account(account: string): Promise<Account | undefined> {
    const read = call(readAccounts, textArray([account]), NONE, NONE);
    const [[found]] = await this.#sessions.read((session) => session.run(read));
    return found;
  }

  async reservation(tenant: string, id: string): Promise<Reservation | undefined> {
    const read = call(readReservations, textArray([tenant]), textArray([id]));
    const [[found]] = await this.#sessions.read((session) => session.run(read));
    return found?.reservation;
  }

  async funding(tenant: string, kind: Funding['kind'], id: string): Promise<Funding | undefined> {
    const read = call(readFundings, textArray([tenant]), textArray([kind]), textArray([id]));
    const [[found]] = await this.#sessions.read((session) => session.run(read));
    return found;
  }

  async maxCosts(models?: readonly string[]): Promise<MaxCost[]> {
    const read = models === undefined ? call(readAllMaxCosts) : call(readMaxCosts, textArray(models), NONE, NONE);
    const [found] = await this.#sessions.read((session) => session.run(read));
    return found;
  }

  async totals(partition: number): Promise<UnitTotal[]> {
    const [found] = await this.#sessions.read((session) => session.run(call(sumAccounts, partition.toString())));
    return found;
  }

  async expired(partitions: readonly number[], limit: number): Promise<Overdue[]> {
    const read = call(readExpired, int4Array(partitions), limit.toString());
    const [found] = await this.#sessions.read((session) => session.run(read));
    return found;
  }
}
