import type { LedgerEvent } from '../../events/index.js';
import type { AuditView, AuditedReservation } from '../core/audit.js';
import { evolve } from '../core/evolve.js';
import { fundingKey, initialState, reservationKey } from '../core/state.js';
import type { Account, Funding } from '../core/state.js';
import type { Drift } from './verify-journal.js';

/** Two values that read the same: members in any order, absent like undefined, amounts as text. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'bigint') return member.toString();
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });

/** The names of the members in which two objects differ. */
export const differing = (one: object, other: object): readonly string[] => {
  const [ones, others] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  return [...new Set([...ones.keys(), ...others.keys()])].filter(
    (name) => textOf(ones.get(name)) !== textOf(others.get(name)),
  );
};

interface Touched {
  readonly tenant: string;
  readonly id: string;
  readonly positions: number[];
}

/**
 * Works out every row of one partition's state from its events, and holds the rows to it: accounts whole, reservations, fundings.
 * A reservation's row says which event is its last: after that one it is compared and forgotten, so memory grows with the
 * accounts and the reservations that are open at once, not with the log.
 */
export class StateWalk {
  private readonly state = initialState();
  /** By reservationKey: what this chunk of events touched. */
  private touched = new Map<string, Touched>();
  private funded: Funding[] = [];
  private readonly eventsOf = new Map<string, number>();
  private reservations = 0;
  private fundings = 0;

  constructor(private readonly report: (drift: Drift) => void) {}

  /** Folds the next event. One that can't be folded is reported. */
  fold(event: LedgerEvent): void {
    try {
      evolve(this.state, event);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.report({ position: event.position, what: `the event does not go with those before it: ${why}` });
    }
    if ('reservation_id' in event.data) this.touch(event.tenant, event.data.reservation_id, event.position);
    if (event.name === 'Recharged') this.fund(fundingKey(event.tenant, 'recharge', event.data.recharge_id));
    if (event.name === 'Adjusted') this.fund(fundingKey(event.tenant, 'adjust', event.data.adjustment_id));
  }

  /** Compares the rows that the events since the last call were the last ones of. */
  async settle(view: AuditView): Promise<void> {
    const touched = [...this.touched.values()];
    if (touched.length > 0) {
      const rows = new Map(
        (await view.reservations(touched)).map((row) => [
          reservationKey(row.reservation.tenant, row.reservation.id),
          row,
        ]),
      );
      for (const [key, one] of this.touched) this.settleReservation(key, one, rows.get(key));
    }
    if (this.funded.length > 0) await this.settleFundings(view);
    this.touched = new Map();
    this.funded = [];
  }

  /** Compares what an account has besides its buckets. */
  compareAccount(row: Account): void {
    const folded = this.state.accounts.get(row.account);
    if (folded === undefined) return;
    const fields = differing(row, folded);
    if (fields.length > 0)
      this.report({ account: row.account, what: `its row and its events differ in ${fields.join(', ')}` });
  }

  /** What is left over when all events are folded: rows that no event accounts for, and the other way round. */
  async conclude(view: AuditView): Promise<void> {
    for (const [key, events] of this.eventsOf)
      this.report({
        what: `reservation ${key}: its row lists events that the log has not (of it: ${events.toString()})`,
      });
    const rows = await view.rowCounts();
    const count = (what: string, inRows: number, inEvents: number): void => {
      if (inRows !== inEvents)
        this.report({ what: `${inRows.toString()} ${what} have a row, ${inEvents.toString()} have events` });
    };
    count('reservations', rows.reservations, this.reservations);
    count('recharges and adjustments', rows.fundings, this.fundings);
  }

  private touch(tenant: string, id: string, position: number): void {
    const key = reservationKey(tenant, id);
    const touched = this.touched.get(key);
    if (touched === undefined) this.touched.set(key, { tenant, id, positions: [position] });
    else touched.positions.push(position);
  }

  /** Later events need no funding: each is compared once and forgotten. */
  private fund(key: string): void {
    const funding = this.state.fundings.get(key);
    this.state.fundings.delete(key);
    this.state.references.clear();
    if (funding !== undefined) this.funded.push(funding);
  }

  private settleReservation(key: string, touched: Touched, row: AuditedReservation | undefined): void {
    const events = (this.eventsOf.get(key) ?? 0) + touched.positions.length;
    const [last = 0] = touched.positions.slice(-1);
    const stray = touched.positions.find((position) => row?.positions.includes(position) !== true);
    if (row !== undefined && stray === undefined && row.positions.at(-1) !== last) {
      this.eventsOf.set(key, events);
      return;
    }
    this.eventsOf.delete(key);
    const folded = this.state.reservations.get(key);
    this.state.reservations.delete(key);
    const what = `reservation ${key}`;
    if (row === undefined) this.report({ position: last, what: `${what} has events and no row` });
    else if (stray !== undefined) this.report({ position: stray, what: `${what}: its row does not list this event` });
    else if (row.positions.length !== events)
      this.report({ position: last, what: `${what}: its row lists ${row.positions.length.toString()} events, the log has ${events.toString()}` }); // prettier-ignore
    else if (folded !== undefined) {
      const fields = differing(row.reservation, folded);
      if (fields.length > 0) this.report({ position: last, what: `${what}: its row and its events differ in ${fields.join(', ')}` }); // prettier-ignore
    }
    if (row !== undefined) this.reservations += 1;
  }

  private async settleFundings(view: AuditView): Promise<void> {
    const key = ({ tenant, kind, id }: Funding): string => fundingKey(tenant, kind, id);
    const rows = new Map((await view.fundings(this.funded)).map((row) => [key(row), row]));
    for (const funding of this.funded) {
      const row = rows.get(key(funding));
      const { account, position, kind, id } = funding;
      if (row === undefined) {
        this.report({ account, position, what: `${kind} ${id} has an event and no row` });
        continue;
      }
      this.fundings += 1;
      const fields = differing(row, funding);
      if (fields.length > 0)
        this.report({ account, position, what: `${kind} ${id}: its row and its event differ in ${fields.join(', ')}` });
    }
  }
}
