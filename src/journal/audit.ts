import type { AuditView, JournalAudit } from '../core/audit.js';
import type { Checkpoint } from '../core/ports.js';
import { LedgerMismatchError } from './errors.js';
import type { Session } from './session.js';
import type { Sessions } from './sessions.js';
import { int8Array, textArray } from './binary.js';
import { readRowCounts, readTrailAt, walkAuditedAccounts } from './sql/audit.js';
import { readFundings } from './sql/fundings.js';
import { rollback } from './sql/heads.js';
import { readEventsAt, walkEvents } from './sql/log.js';
import { readAllMaxCosts } from './sql/max-costs.js';
import { readReservations } from './sql/reservations.js';
import { beginSnapshot, readSnapshotHead, walkOpen } from './sql/snapshot.js';
import { call } from './statement.js';

/** For verify: the journal's rows as they are, beside live traffic. Raises UnavailableError when Postgres can't be asked. */
export class PostgresAudit implements JournalAudit {
  readonly #sessions: Sessions;
  /** The ledger's id, which its chains begin with. */
  readonly ledger: string;

  constructor(sessions: Sessions, ledger: string) {
    this.#sessions = sessions;
    this.ledger = ledger;
  }

  async withPartition<T>(partition: number, fn: (view: AuditView) => Promise<T>): Promise<T> {
    return this.#sessions.use(async (session) => {
      try {
        const [, [moment]] = await session.run(call(beginSnapshot), call(readSnapshotHead, partition.toString()));
        if (moment === undefined) throw new LedgerMismatchError(`The ledger has no partition ${partition.toString()}.`);
        return await fn(viewOf(session, moment.head));
      } finally {
        await session.run(call(rollback)).catch(() => session.destroy());
      }
    });
  }
}

/** Beyond any position: what stands behind the head is looked at too. */
const POSITION_MAX = '9223372036854775807';

const viewOf = (session: Session, head: Checkpoint): AuditView => {
  const partition = head.partition.toString();
  return {
    head,
    events: (size) => session.stream(call(walkEvents, partition, POSITION_MAX), size),
    trail: async (keys) => (await session.run(readTrailAt(keys)))[0],
    accounts: (size) => session.stream(call(walkAuditedAccounts, partition), size),
    openReservations: async function* (size) {
      for await (const rows of session.stream(call(walkOpen, partition), size))
        yield rows.map((row) => row.reservation);
    },
    reservations: async (ids) => {
      const tenants = textArray(ids.map(({ tenant }) => tenant));
      return (await session.run(call(readReservations, tenants, textArray(ids.map(({ id }) => id)))))[0];
    },
    fundings: async (ids) => {
      const keys = [ids.map((f) => f.tenant), ids.map((f) => f.kind), ids.map((f) => f.id)].map(textArray);
      return (await session.run(call(readFundings, ...keys)))[0];
    },
    eventsAt: async (positions) => (await session.run(call(readEventsAt, partition, int8Array(positions))))[0],
    rowCounts: async () => {
      const [[counts]] = await session.run(call(readRowCounts, partition));
      return counts ?? { reservations: 0, fundings: 0 };
    },
    maxCosts: async () => (await session.run(call(readAllMaxCosts)))[0],
  };
};
