import { evolve, isExpired } from '../core/evolve.js';
import type { Snapshot } from '../core/ports.js';
import { initialState, reservationKey } from '../core/state.js';
import type { Account, LedgerState, Reservation } from '../core/state.js';
import type { LedgerEvent } from '../../events/index.js';

const PAGE = 1000;

/** The rows of the accounts are not what the events add up to: the journal itself was changed, and no rebuild mends that. */
export class ReplayMismatchError extends Error {
  override readonly name = 'ReplayMismatchError';
  readonly code = 'replay_mismatch';
  constructor(
    readonly partition: number,
    readonly account: string,
  ) {
    super(
      `Partition ${partition.toString()}: the events of ${account} do not add up to its row in Postgres. Run: holdfast verify`,
    );
  }
}

/**
 * The same moment as `snapshot`, worked out from the events alone: fold in the process, hand out final states.
 * Reservations that were closed longer ago than `closedWithinMs` are forgotten on the way, so that memory does not grow with the log.
 * Raises ReplayMismatchError when an account comes out otherwise than its row.
 */
export const replayed = async (snapshot: Snapshot, closedWithinMs: number): Promise<Snapshot> => {
  const state = initialState();
  const closings = new Closings(state, snapshot.nowMs - closedWithinMs);
  for (let after = 0; after < snapshot.head.position;) {
    const page = await snapshot.events(after, PAGE);
    if (page.length === 0)
      throw new Error(`The log of partition ${snapshot.head.partition.toString()} ends too early.`);
    for (const { event } of page) {
      evolve(state, event);
      closings.follow(event);
      after = event.position;
    }
  }
  await holdToRows(snapshot, state);
  const reservations = [...state.reservations.values()];
  const recent = closings.recent();
  return {
    ...bound(snapshot),
    accounts: (size) => chunked([...state.accounts.values()], size),
    openReservations: (size) =>
      chunked(
        reservations.filter((r) => r.state === 'open'),
        size,
      ),
    closedReservations: (_withinMs, size) => chunked(recent, size),
  };
};

/** A snapshot's own answers, detached from it so that some can be replaced. */
const bound = (
  snapshot: Snapshot,
): Pick<Snapshot, 'head' | 'nowMs' | 'maxCosts' | 'known' | 'accountsNamed' | 'events'> => ({
  head: snapshot.head,
  nowMs: snapshot.nowMs,
  maxCosts: () => snapshot.maxCosts(),
  known: (ids) => snapshot.known(ids),
  accountsNamed: (names) => snapshot.accountsNamed(names),
  events: (after, limit) => snapshot.events(after, limit),
});

/** Which reservations were closed recently, in the order of their closing. */
class Closings {
  private readonly closed = new Map<string, number>();

  constructor(
    private readonly state: LedgerState,
    /** Closed before this moment (ms since 1970) is forgotten. */
    private readonly sinceMs: number,
  ) {}

  follow(event: LedgerEvent): void {
    if (event.name !== 'Finalized' && event.name !== 'Refunded') return;
    const key = reservationKey(event.tenant, event.data.reservation_id);
    const reservation = this.state.reservations.get(key);
    this.closed.delete(key);
    if (event.timeMs >= this.sinceMs) this.closed.set(key, event.timeMs);
    // What expired may still be finalized, however late; anything else that is closed stays as it is.
    else if (reservation !== undefined && !isExpired(reservation)) this.state.reservations.delete(key);
  }

  recent(): Reservation[] {
    return [...this.closed.keys()].flatMap((key) => this.state.reservations.get(key) ?? []);
  }
}

const holdToRows = async (snapshot: Snapshot, state: LedgerState): Promise<void> => {
  for await (const rows of snapshot.accounts(PAGE))
    for (const row of rows)
      if (!sameBuckets(row, state.accounts.get(row.account)))
        throw new ReplayMismatchError(snapshot.head.partition, row.account);
};

const sameBuckets = (row: Account, folded: Account | undefined): boolean =>
  folded !== undefined &&
  row.available === folded.available &&
  row.held === folded.held &&
  row.used === folded.used &&
  row.funded === folded.funded;

const chunked = async function* <T>(items: readonly T[], size: number): AsyncGenerator<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield await Promise.resolve(items.slice(at, at + size));
};
