import type { AuditView, JournalAudit } from '../core/audit.js';
import type { Checkpoint } from '../core/ports.js';
import { LedgerMismatchError } from './errors.js';
import type { Session } from './session.js';
import type { Sessions } from './sessions.js';
import { readTrailAt, walkAuditedAccounts } from './sql/audit.js';
import { rollback } from './sql/heads.js';
import { walkEvents } from './sql/log.js';
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

const viewOf = (session: Session, head: Checkpoint): AuditView => {
  const partition = head.partition.toString();
  return {
    head,
    events: (size) => session.stream(call(walkEvents, partition, head.position.toString()), size),
    trail: async (keys) => (await session.run(readTrailAt(keys)))[0],
    accounts: (size) => session.stream(call(walkAuditedAccounts, partition), size),
    openReservations: async function* (size) {
      for await (const rows of session.stream(call(walkOpen, partition), size))
        yield rows.map((row) => row.reservation);
    },
  };
};
