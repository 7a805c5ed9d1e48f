import { EMPTY_BUCKETS } from '../../events/index.js';
import type { AuditView, AuditedReservation, JournalAudit } from '../core/audit.js';
import { evolve } from '../core/evolve.js';
import type { DecodeBody } from '../core/ports.js';
import type { RecordPage } from '../core/redis-ports.js';
import { initialState, reservationKey } from '../core/state.js';
import type { Account, Reservation } from '../core/state.js';
import type { CompareParts } from './compare-balances.js';
import { missingRecords } from './compare-population.js';
import { Findings } from './finding.js';
import { differing } from './verify-state.js';

export interface RecordsParts {
  readonly compare: CompareParts;
  readonly audit: JournalAudit;
  readonly decode: DecodeBody;
}

export interface RecordsVerdict {
  readonly records: number;
  readonly findings: Findings;
}

/**
 * Compares every record of a reservation that Redis has of a partition with the journal, as it was at Redis's checkpoint, beside live
 * traffic; and looks for open reservations of which it has none. Raises UnavailableError.
 */
export const verifyRecords = async (parts: RecordsParts, partition: number): Promise<RecordsVerdict> => {
  const findings = new Findings();
  const find = (what: string, position?: number): void =>
    findings.add({ where: 'redis', partition, ...(position === undefined ? {} : { position }), what });
  let records = 0;
  for (let cursor = '0'; ;) {
    const page = await parts.compare.balances.records(partition, cursor);
    // Rebuilt or lost meanwhile: the comparison of balances, which comes before, says so when it lasts.
    if (page === undefined) break;
    records += page.records.length;
    if (page.records.length > 0)
      await parts.audit.withPartition(partition, (view) => comparePage(view, page, parts.decode, find));
    if (page.cursor === '0') break;
    ({ cursor } = page);
  }
  for (const { tenant, id, position } of await missingRecords(parts.compare, partition))
    find(`Redis has no record of reservation ${reservationKey(tenant, id)}, which is open`, position);
  return { records, findings };
};

const nameParts = (name: string): { readonly tenant: string; readonly id: string } => {
  const slash = name.indexOf('/');
  return { tenant: name.slice(0, slash), id: name.slice(slash + 1) };
};

const comparePage = async (
  view: AuditView,
  { records, checkpoint }: RecordPage,
  decode: DecodeBody,
  find: (what: string, position?: number) => void,
): Promise<void> => {
  // The journal went back: that is what the comparison of balances says, and no record can be compared.
  if (view.head.position < checkpoint.position) return;
  const rows = await view.reservations(records.map(({ name }) => nameParts(name)));
  const byName = new Map(rows.map((row) => [reservationKey(row.reservation.tenant, row.reservation.id), row]));
  for (const { name, reservation } of records) {
    const row = byName.get(name);
    if (reservation === undefined) find(`the record of reservation ${name} can't be read`, row?.reservation.position);
    else if (row === undefined) find(`Redis has a record of reservation ${name}, which the journal does not know`);
    else {
      const expected = await asOf(view, row, checkpoint.position, decode);
      const fields = differences(reservation, expected);
      if (fields.length > 0)
        find(
          `the record of reservation ${name} and the journal differ in ${fields.join(', ')}`,
          row.reservation.position,
        );
    }
  }
};

/** In what a record and the journal differ; a record keeps no metadata. */
const differences = (record: Reservation, expected: Reservation | undefined): readonly string[] =>
  expected === undefined ? ['existence'] : differing(record, expected).filter((field) => field !== 'metadata');

/** The reservation as it was at a position: its row, unless it has changed since; then from its events. */
const asOf = async (
  view: AuditView,
  { reservation, positions }: AuditedReservation,
  position: number,
  decode: DecodeBody,
): Promise<Reservation | undefined> => {
  if (positions.every((one) => one <= position)) return reservation;
  const state = initialState();
  for (const { body } of await view.eventsAt(positions.filter((one) => one <= position))) {
    const event = decode(body);
    for (const { account } of event.data.postings) state.accounts.set(account, anyAccount(account));
    evolve(state, event);
  }
  return state.reservations.get(reservationKey(reservation.tenant, reservation.id));
};

/** Somewhere for postings to go: only the reservation is wanted. */
const anyAccount = (account: string): Account => ({
  account,
  tenant: '',
  unit: '',
  scale: 0,
  overdraftLimit: 0n,
  exempt: false,
  ...EMPTY_BUCKETS,
  position: 0,
});
