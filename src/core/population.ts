import type { Head } from './ports.js';

/** How much a partition has, all counted at one moment. */
export interface Population {
  readonly head: Head;
  readonly accounts: number;
  readonly openReservations: number;
}

/** For finding what another copy lacks wholly. */
export interface PopulationReader {
  /** Counts one partition. Raises UnavailableError when Postgres can't be asked. */
  population(partition: number): Promise<Population>;
}
