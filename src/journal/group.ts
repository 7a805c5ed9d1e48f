import type { StoredEvent } from '../../events/index.js';
import type { DecideSettings } from '../core/decide/index.js';
import { maxCostKey } from '../core/state.js';
import { int4Array } from './binary.js';
import { decideGroup, foldGroup } from './decided.js';
import type { Decided, Outcome, Placed } from './decided.js';
import { LedgerMismatchError, SessionLostError } from './errors.js';
import { checkVersions } from './ledger.js';
import { PROGRAM_VERSION } from './migration-files.js';
import { needsOfEvents } from './event-needs.js';
import { load, loadNeeds } from './needs.js';
import type { Loaded } from './needs.js';
import type { Session } from './session.js';
import { begin, commit, lockHeads, readClock, rollback } from './sql/heads.js';
import type { Clock, LockedHead } from './sql/heads.js';
import { lockMaxCosts } from './sql/max-costs.js';
import { call } from './statement.js';
import { changedMaxCosts, isLocked, writesOf } from './writes.js';

/** A decided group, as told to its callers once it is committed. */
export interface GroupResult {
  /** In the order of the commands. */
  readonly outcomes: readonly Outcome[];
  readonly events: readonly StoredEvent[];
}

/** The connection broke after COMMIT was sent: the group is committed or not, and only Postgres knows. */
export class CommitUnknownError extends Error {
  override readonly name = 'CommitUnknownError';
  constructor(
    readonly result: GroupResult,
    cause: unknown,
  ) {
    super('The connection broke while a group was being committed.', { cause });
  }
}

export interface GroupContext {
  /** The id of the ledger that was opened. */
  readonly ledger: string;
  readonly settings: DecideSettings;
}

/** How often the max_costs to lock may turn out to be others after reading them again. */
const LOCK_PASSES_MAX = 5;

/**
 * Runs one group in one transaction: lock its heads, read what its commands need, decide, write, commit.
 * Raises CommitUnknownError when the connection broke after COMMIT was sent. Whatever else it raises, the group surely
 * did not happen, and the session is out of the transaction or gone.
 */
export const runGroup = (session: Session, placed: readonly Placed[], context: GroupContext): Promise<GroupResult> => {
  const commands = placed.map((p) => p.command);
  const partitions = new Map(placed.map(({ command, partition }) => [command.tenant, partition]));
  return runMade(session, partitions, context.ledger, {
    load: () => load(session, commands),
    decide: (heads, clock, loaded) => decideGroup(placed, heads, clock, loaded, context.settings),
  });
};

/** Writes events that are given, in one transaction. Raises JournalMovedError too, when they do not follow on the heads. */
export const runEvents = (session: Session, events: readonly StoredEvent[], ledger: string): Promise<GroupResult> => {
  const partitions = new Map(events.map(({ event }) => [event.tenant, event.partition]));
  return runMade(session, partitions, ledger, {
    load: () => loadNeeds(session, needsOfEvents(events)),
    decide: (heads, clock, loaded) => foldGroup(events, heads, clock, loaded),
  });
};

/** How a group is made under the lock. */
interface Making {
  readonly load: () => Promise<Loaded>;
  readonly decide: (heads: readonly LockedHead[], clock: Clock, loaded: Loaded) => Decided;
}

const runMade = async (
  session: Session,
  tenants: ReadonlyMap<string, number>,
  ledger: string,
  making: Making,
): Promise<GroupResult> => {
  let writing: GroupResult | undefined;
  try {
    const { heads, clock } = await lock(session, [...new Set(tenants.values())], ledger);
    const { decided, loaded } = await decideUnderLock(session, heads, clock, making);
    const result = { outcomes: decided.outcomes, events: decided.events };
    if (decided.events.length === 0) {
      await session.run(call(rollback));
      return result;
    }
    const writes = writesOf(decided, loaded, (tenant) => partitionIn(tenants, tenant));
    writing = result;
    await session.run(...writes, call(commit));
    return result;
  } catch (error) {
    if (error instanceof SessionLostError) {
      if (writing !== undefined) throw new CommitUnknownError(writing, error);
      throw error;
    }
    await session.run(call(rollback)).catch(() => session.destroy());
    throw error;
  }
};

const partitionIn = (tenants: ReadonlyMap<string, number>, tenant: string): number => {
  const partition = tenants.get(tenant);
  if (partition === undefined) throw new Error('A group writes a row of a tenant that none of its commands is of.');
  return partition;
};

const lock = async (
  session: Session,
  partitions: readonly number[],
  ledger: string,
): Promise<{ heads: LockedHead[]; clock: Clock }> => {
  const [, heads, [clock]] = await session.run(call(begin), call(lockHeads, int4Array(partitions)), call(readClock));
  if (clock?.ledger !== ledger)
    throw new LedgerMismatchError('The database holds another ledger than it did when this program started.');
  if (heads.length !== partitions.length)
    throw new LedgerMismatchError('The ledger has fewer partitions than it had when this program started.');
  checkVersions({ schemaVersion: PROGRAM_VERSION, oldestProgram: clock.oldestProgram });
  return { heads, clock };
};

/**
 * Decides, and looks which max_costs that changes: rows of all partitions' common property, locked only when needed,
 * after the heads and in sorted order. Having locked them, it reads and decides again, since another may have come first.
 */
const decideUnderLock = async (
  session: Session,
  heads: readonly LockedHead[],
  clock: Clock,
  making: Making,
): Promise<{ decided: Decided; loaded: Loaded }> => {
  const locked = new Set<string>();
  for (let pass = 0; pass < LOCK_PASSES_MAX; pass++) {
    const loaded = await making.load();
    const decided = making.decide(heads, clock, loaded);
    const missing = changedMaxCosts(decided, loaded).filter((row) => !isLocked(locked, row));
    if (missing.length === 0) return { decided, loaded };
    await session.run(...lockMaxCosts(missing));
    for (const { model, unit } of missing) locked.add(maxCostKey(model, unit));
  }
  throw new Error(`The max_costs to change were others ${LOCK_PASSES_MAX.toString()} times in a row.`);
};
