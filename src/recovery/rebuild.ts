import type { Checkpoint, Snapshot, SnapshotReader } from '../core/ports.js';
import { replayed } from './replay.js';
import type { Rebuild, RebuildTarget } from '../core/redis-ports.js';

/** Rows in one step: small enough that no script runs for long. */
const CHUNK = 500;

export interface RebuildParts {
  readonly target: RebuildTarget;
  readonly snapshots: SnapshotReader;
  /** How long Redis remembers closed ids, ms. */
  readonly closedWithinMs: number;
  /** From the events instead of the rows. */
  readonly replay?: boolean;
}

export interface RebuildReport {
  readonly partition: number;
  readonly checkpoint: Checkpoint;
  readonly accounts: number;
  readonly openReservations: number;
  readonly closedReservations: number;
  /** Speculations that were still under way and deducted again. */
  readonly speculations: number;
  /** Speculations that could not be deducted; their reserves are decided by the journal alone. */
  readonly dropped: number;
}

/**
 * Makes one partition of Redis anew from Postgres, under traffic (design, section 3): from `begin` on Redis refuses holds
 * and applies; everything is read from one snapshot taken after that; a second rebuild that begins meanwhile fences this one off.
 * The partition is not ready yet afterwards: that is the readiness keeper's word.
 * Raises RebuildLostError or UnavailableError: begin again then; from events also ReplayMismatchError.
 */
export const rebuildPartition = async (parts: RebuildParts, partition: number): Promise<RebuildReport> => {
  const rebuild = await parts.target.begin(partition);
  return parts.snapshots.withSnapshot(partition, async (rows) => {
    const snapshot = parts.replay === true ? await replayed(rows, parts.closedWithinMs) : rows;
    const accounts = await copyAccounts(rebuild, snapshot);
    const openReservations = await copyOpen(rebuild, snapshot);
    const closedReservations = await copyClosed(rebuild, snapshot, parts.closedWithinMs);
    await rebuild.maxCosts(await snapshot.maxCosts());
    await dropKnown(rebuild, snapshot);
    const { deducted, dropped } = await rebuild.end(snapshot.head);
    return {
      partition,
      checkpoint: snapshot.head,
      accounts,
      openReservations,
      closedReservations,
      speculations: deducted,
      dropped,
    };
  });
};

const copyAccounts = async (rebuild: Rebuild, snapshot: Snapshot): Promise<number> => {
  let count = 0;
  for await (const accounts of snapshot.accounts(CHUNK)) {
    await rebuild.accounts(accounts);
    count += accounts.length;
  }
  return count;
};

const copyOpen = async (rebuild: Rebuild, snapshot: Snapshot): Promise<number> => {
  let count = 0;
  for await (const reservations of snapshot.openReservations(CHUNK)) {
    await rebuild.reservations(reservations);
    count += reservations.length;
  }
  return count;
};

const copyClosed = async (rebuild: Rebuild, snapshot: Snapshot, withinMs: number): Promise<number> => {
  let count = 0;
  for await (const reservations of snapshot.closedReservations(withinMs, CHUNK)) {
    await rebuild.reservations(reservations);
    count += reservations.length;
  }
  return count;
};

/** A speculation whose event is in the rows already must not be deducted twice. */
const dropKnown = async (rebuild: Rebuild, snapshot: Snapshot): Promise<void> => {
  for (let at = 0; at < rebuild.speculations.length; at += CHUNK) {
    const known = await snapshot.known(rebuild.speculations.slice(at, at + CHUNK));
    if (known.length > 0) await rebuild.dropKnown(known);
  }
};
