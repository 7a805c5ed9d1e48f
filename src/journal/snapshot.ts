import type { StoredEvent } from '../../events/index.js';
import type { Population, PopulationReader } from '../core/population.js';
import type { Checkpoint, Snapshot, SnapshotReader } from '../core/ports.js';
import type { Account, MaxCost, Reservation } from '../core/state.js';
import { textArray } from './binary.js';
import { LedgerMismatchError } from './errors.js';
import { runFrom } from './events-from.js';
import type { EventSource } from './events-from.js';
import type { Session } from './session.js';
import type { Sessions } from './sessions.js';
import { readAccounts } from './sql/accounts.js';
import { rollback } from './sql/heads.js';
import { readEvents } from './sql/log.js';
import { readAllMaxCosts } from './sql/max-costs.js';
import { readReservations } from './sql/reservations.js';
import { beginSnapshot, readPopulation, readSnapshotHead, walkAccounts, walkClosed, walkOpen } from './sql/snapshot.js';
import { call } from './statement.js';

const NONE = textArray([]);

/** One partition at one moment. Every call raises UnavailableError when Postgres can't be asked. */
export class PostgresSnapshots implements SnapshotReader, PopulationReader {
  readonly #sessions: Sessions;
  readonly #source: EventSource;

  constructor(sessions: Sessions, source: EventSource) {
    this.#sessions = sessions;
    this.#source = source;
  }

  async withSnapshot<T>(partition: number, fn: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    return this.#sessions.use(async (session) => {
      try {
        const [, [moment]] = await session.run(call(beginSnapshot), call(readSnapshotHead, partition.toString()));
        if (moment === undefined) throw new LedgerMismatchError(`The ledger has no partition ${partition.toString()}.`);
        return await fn(new OpenSnapshot(session, this.#source, moment.head, moment.nowMs));
      } finally {
        await session.run(call(rollback)).catch(() => session.destroy());
      }
    });
  }

  async population(partition: number): Promise<Population> {
    const [[found]] = await this.#sessions.read((session) => session.run(call(readPopulation, partition.toString())));
    if (found === undefined) throw new LedgerMismatchError(`The ledger has no partition ${partition.toString()}.`);
    return found;
  }
}

class OpenSnapshot implements Snapshot {
  readonly #session: Session;
  readonly #source: EventSource;
  readonly #partition: string;

  constructor(
    session: Session,
    source: EventSource,
    readonly head: Checkpoint,
    readonly nowMs: number,
  ) {
    this.#session = session;
    this.#source = source;
    this.#partition = head.partition.toString();
  }

  accounts(size: number): AsyncIterable<readonly Account[]> {
    return this.#session.stream(call(walkAccounts, this.#partition), size);
  }

  async *openReservations(size: number): AsyncIterable<readonly Reservation[]> {
    for await (const rows of this.#session.stream(call(walkOpen, this.#partition), size))
      yield rows.map((row) => row.reservation);
  }

  async *closedReservations(withinMs: number, size: number): AsyncIterable<readonly Reservation[]> {
    const since = (this.nowMs - withinMs).toString();
    for await (const rows of this.#session.stream(call(walkClosed, this.#partition, since), size))
      yield rows.map((row) => row.reservation);
  }

  async maxCosts(): Promise<MaxCost[]> {
    const [found] = await this.#session.run(call(readAllMaxCosts));
    return found;
  }

  async known(ids: readonly { readonly tenant: string; readonly id: string }[]): Promise<Reservation[]> {
    const tenants = textArray(ids.map((i) => i.tenant));
    const [found] = await this.#session.run(call(readReservations, tenants, textArray(ids.map((i) => i.id))));
    return found.map((row) => row.reservation);
  }

  async accountsNamed(names: readonly string[]): Promise<Account[]> {
    const [found] = await this.#session.run(call(readAccounts, textArray(names), NONE, NONE));
    return found;
  }

  async events(after: number, limit: number): Promise<StoredEvent[]> {
    const rowsMax = limit + (after === 0 ? 0 : 1);
    const [rows] = await this.#session.run(call(readEvents, this.#partition, after.toString(), rowsMax.toString()));
    return runFrom(this.#source, this.head.partition, after, rows);
  }
}
