import { genesisHash } from '../../events/index.js';
import type { StoredEvent } from '../../events/index.js';
import { LedgerMismatchError } from './errors.js';
import { runEvents } from './group.js';
import { APPEND_STATEMENTS } from './journal.js';
import { readLedger } from './ledger.js';
import type { PostgresOptions } from './options.js';
import { Session } from './session.js';
import { call } from './statement.js';
import type { Statement } from './statement.js';

/** Most events of one transaction. */
export const RESTORE_GROUP_MAX = 500;
const IDLE_IN_TRANSACTION_MS = 10_000;

/** One connection that writes given events, group after group. */
export interface Restoring {
  /**
   * Writes the next events, with every row that follows from them. Raises JournalMovedError when they do not follow on the heads;
   * then, and whatever else it raises (save CommitUnknownError), nothing of the group was written.
   */
  write(events: readonly StoredEvent[]): Promise<void>;
  close(): Promise<void>;
}

/** Opens it. Passes no fence: what is written is what others have seen already. */
export const openRestoring = async (postgres: PostgresOptions, ledger: string): Promise<Restoring> => {
  const session = await Session.open(postgres, {
    statements: APPEND_STATEMENTS,
    idleInTransactionMs: IDLE_IN_TRANSACTION_MS,
  });
  return {
    write: async (events) => {
      for (let at = 0; at < events.length; at += RESTORE_GROUP_MAX)
        await runEvents(session, events.slice(at, at + RESTORE_GROUP_MAX), ledger);
    },
    close: () => session.close(),
  };
};

const lockAll: Statement<number> = {
  name: 'lock_all_heads',
  text: 'select position from holdfast.heads order by partition for update',
  read: (row) => row.int(0),
};
const countKnown: Statement<number> = {
  name: 'count_max_costs',
  text: 'select count(*) from holdfast.max_costs',
  read: (row) => row.int(0),
};
const updateId: Statement<true> = {
  name: 'adopt_ledger',
  text: 'update holdfast.ledger set id = $1::uuid returning true',
  read: () => true,
};
const updateGenesis: Statement<true> = {
  name: 'adopt_heads',
  text: `update holdfast.heads h set hash = decode(n.hash, 'hex')
    from unnest($1::text[]) with ordinality as n(hash, n) where h.partition = n.n - 1 returning true`,
  read: () => true,
};

const owner = <T>(postgres: PostgresOptions, work: (session: Session) => Promise<T>): Promise<T> =>
  Session.open(postgres, {
    statements: [readLedger, lockAll, countKnown, updateId, updateGenesis, raiseIncarnation, settlePending],
    idleInTransactionMs: IDLE_IN_TRANSACTION_MS,
    asWriter: false,
  }).then(async (session) => {
    try {
      return await work(session);
    } finally {
      await session.close();
    }
  });

/**
 * Gives an empty database the id of a ledger that is to be restored into it, as its owner. Raises LedgerMismatchError, with nothing
 * changed, when the database has events.
 */
export const adoptLedger = (postgres: PostgresOptions, ledger: string): Promise<void> =>
  owner(postgres, async (session) => {
    await session.simple('begin');
    const [heads, [models]] = await session.run(call(lockAll), call(countKnown));
    if (heads.some((position) => position > 0) || models !== 0)
      throw new LedgerMismatchError('The database holds events of another ledger. Nothing was changed.');
    const hashes = heads.map((_, partition) => genesisHash(ledger, partition));
    await session.run(call(updateId, ledger), call(updateGenesis, `{${hashes.join(',')}}`));
    await session.simple('commit');
  });

const raiseIncarnation: Statement<true> = {
  name: 'raise_incarnation',
  text: 'update holdfast.ledger set incarnation = $1::int where incarnation < $1::int returning true',
  read: () => true,
};

/** A cost that waits for an operator, of a model and unit; `pending` absent when none does. */
export interface PendingCost {
  readonly model: string;
  readonly unit: string;
  readonly pending?: bigint;
}

const settlePending: Statement<true> = {
  name: 'settle_pending',
  text: `update holdfast.max_costs set pending = case when $3::bigint > amount then $3::bigint end
    where model = $1 and unit = $2 and revision > 0 returning true`,
  read: () => true,
};

/**
 * What can only be told once every partition is there: the ledger's incarnation is at least that of its events, and the costs that
 * wait for an operator are those that no operator has answered.
 */
export const concludeRestore = (
  postgres: PostgresOptions,
  incarnation: number,
  pending: readonly PendingCost[],
): Promise<void> =>
  owner(postgres, async (session) => {
    await session.run(call(raiseIncarnation, incarnation.toString()));
    for (const { model, unit, pending: cost } of pending)
      await session.run(call(settlePending, model, unit, cost?.toString() ?? null));
  });
