import type { Checkpoint, Witness } from '../core/ports.js';
import { LedgerMismatchError } from './errors.js';
import { FENCE_STATEMENTS, disagreement, markProblem } from './fence.js';
import { PRESENT_MARK, readLedger } from './ledger.js';
import type { LedgerRecord } from './ledger.js';
import type { PostgresOptions } from './options.js';
import { Session } from './session.js';
import { readHashes } from './sql/events.js';
import { readAllHeads } from './sql/log.js';
import { call } from './statement.js';
import type { Statement } from './statement.js';

/** The log that others have is further than the journal, or another one: resuming would fork it. Nothing was changed. */
export class ResumeRefusedError extends Error {
  override readonly name = 'ResumeRefusedError';
}

export interface ResumeOptions {
  /** A login that may change `holdfast.ledger`: the one that migrates. */
  readonly postgres: PostgresOptions;
  /** Kafka's log; undefined when the operator goes on without it. */
  readonly log: Witness | undefined;
  /** What Redis has applied, as far as it can be asked. */
  readonly balances: readonly Checkpoint[];
}

export interface Resumed {
  readonly from: number;
  readonly incarnation: number;
  /** Why the journal had to be opened again; undefined when nothing showed it, and the operator alone knows of a restore. */
  readonly why: string | undefined;
  /** By partition: events that Redis had applied and that no log has any more. They had been acknowledged. */
  readonly lost: ReadonlyMap<number, number>;
}

const raise: Statement<number> = {
  name: 'resume_ledger',
  text: `update holdfast.ledger set (incarnation, system_identifier, timeline) = row($2::int, ${PRESENT_MARK})
    where incarnation = $1::int returning incarnation`,
  read: (row) => row.int(0),
};

/**
 * An operator's word that the journal is to be written again as it is: raises the incarnation above every one that was ever seen, and
 * makes this cluster and timeline the ledger's (design, section 4). Raises ResumeRefusedError while Kafka is ahead of the journal or
 * holds other events, or can't be asked; LedgerMismatchError, SessionLostError, StatementError.
 */
export const resumeLedger = async ({ postgres, log, balances }: ResumeOptions): Promise<Resumed> => {
  const tails = await heard(log);
  const statements = [...FENCE_STATEMENTS, readHashes, raise];
  const session = await Session.open(postgres, { statements, idleInTransactionMs: 10_000, asWriter: false });
  try {
    const [[ledger], heads] = await session.run(call(readLedger), call(readAllHeads));
    if (ledger === undefined) throw new LedgerMismatchError('The database has no ledger. Run: holdfast migrate');
    const why = await disagreement(session, heads, 'Kafka', tails);
    if (why !== undefined)
      throw new ResumeRefusedError(
        `${why}. Nothing was changed. Fill the journal first: holdfast restore --from kafka`,
      );
    const ends = new Map(heads.map(({ partition, position }) => [partition, position]));
    const lost = balances.flatMap(({ partition, position }): [number, number][] => {
      const behind = position - (ends.get(partition) ?? 0);
      return behind > 0 ? [[partition, behind]] : [];
    });
    const current = balances.filter(({ incarnation }) => incarnation >= ledger.incarnation);
    const shown = markProblem(ledger) ?? (await disagreement(session, heads, 'Redis', current));
    const incarnation = await raised(session, ledger, [...tails, ...balances]);
    return { from: ledger.incarnation, incarnation, why: shown, lost: new Map(lost) };
  } finally {
    await session.close();
  }
};

const heard = async (log: Witness | undefined): Promise<readonly Checkpoint[]> => {
  try {
    return (await log?.tails()) ?? [];
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new ResumeRefusedError(
      `Kafka can't say what it has (${words}), and it may be ahead of the journal. Nothing was changed. ` +
        'Mend it first, or say --without-kafka if its log is lost too.',
      { cause: error },
    );
  }
};

const raised = async (session: Session, ledger: LedgerRecord, seen: readonly Checkpoint[]): Promise<number> => {
  const highest = Math.max(ledger.incarnation, ...seen.map(({ incarnation }) => incarnation));
  const [[incarnation]] = await session.run(call(raise, ledger.incarnation.toString(), (highest + 1).toString()));
  if (incarnation === undefined) throw new ResumeRefusedError('Somebody else has just resumed this ledger.');
  return incarnation;
};
