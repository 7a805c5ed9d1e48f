import type { PopulationReader } from '../core/population.js';
import type { Snapshot, SnapshotReader } from '../core/ports.js';
import type { BalancesReader, PartitionInfo, Readiness } from '../core/redis-ports.js';
import type { Reservation } from '../core/state.js';

/** Open reservations looked for in one command. */
const CHUNK = 500;

export interface PopulationParts {
  readonly balances: Pick<BalancesReader, 'knowsRecords'>;
  readonly snapshots: SnapshotReader & PopulationReader;
  readonly readiness: Pick<Readiness, 'info'>;
}

/**
 * What Redis lacks wholly of a partition, in words: names of accounts, records of reservations that are open, the order in which records
 * are dropped. A comparison of what Redis has can't see that. Postgres is counted first, so that a Redis which is at least
 * as far must have all of it. Undefined: nothing, or it can't be said now (Redis is away, behind, or being rebuilt). Raises UnavailableError.
 */
export const whatIsLacking = async (parts: PopulationParts, partition: number): Promise<string | undefined> => {
  const counted = await parts.snapshots.population(partition);
  const info = (await parts.readiness.info([partition])).get(partition);
  const position = info?.checkpoint?.position;
  if (info === undefined || info.rebuilding || position === undefined || position < counted.head.position)
    return undefined;
  // Each event since may have opened an account, or a reservation.
  const later = position - counted.head.position;
  const wrong = miscounted(info, counted.accounts, counted.openReservations, later);
  if (wrong !== undefined) return wrong;
  const lost = (await missingRecords(parts, partition)).length;
  return lost === 0 ? undefined : `Redis has no record of ${lost.toString()} reservations that are open`;
};

const miscounted = (
  info: PartitionInfo,
  accounts: number,
  openReservations: number,
  later: number,
): string | undefined => {
  if (info.accounts < accounts)
    return `Redis names ${info.accounts.toString()} accounts, the journal has ${accounts.toString()}`;
  if (info.accounts > accounts + later)
    return `Redis names ${info.accounts.toString()} accounts, the journal has ${accounts.toString()}`;
  const never = info.reservations - info.closings - openReservations - later;
  return never > 0 ? `${never.toString()} records of closed reservations would never be dropped` : undefined;
};

type RecordParts = Pick<PopulationParts, 'balances'> & { readonly snapshots: SnapshotReader };

/**
 * Open reservations of which Redis has no record, some of them when there are many: open before it was asked, and still open
 * afterwards. None when it can't be said now. Raises UnavailableError.
 */
export const missingRecords = async (parts: RecordParts, partition: number): Promise<readonly Reservation[]> => {
  const missing = await parts.snapshots.withSnapshot(partition, (snapshot) => unknownTo(parts, snapshot));
  if (missing.length === 0) return [];
  const still = await parts.snapshots.withSnapshot(partition, (snapshot) => snapshot.known(missing));
  return still.filter(({ state }) => state === 'open');
};

/** The first chunk of open reservations with any that Redis does not know is enough to tell. */
const unknownTo = async ({ balances }: RecordParts, snapshot: Snapshot): Promise<readonly Reservation[]> => {
  const { partition, position } = snapshot.head;
  for await (const open of snapshot.openReservations(CHUNK)) {
    const answer = await balances.knowsRecords(partition, open);
    if (answer === undefined || answer.checkpoint.position < position) return [];
    const missing = open.filter((_, index) => answer.known[index] !== true);
    if (missing.length > 0) return missing;
  }
  return [];
};
