import { addPosting, EMPTY_BUCKETS, genesisHash } from '../../events/index.js';
import type { StoredEvent } from '../../events/index.js';
import type { Command } from '../../src/core/command.js';
import { execute } from '../../src/core/decide/index.js';
import type { LogTail } from '../../src/core/decide/index.js';
import { evolve } from '../../src/core/evolve.js';
import type { AccountAt, AsOf, ReservationHistory, TrailPage, TrailSlice } from '../../src/core/history.js';
import { partitionOf } from '../../src/core/partition.js';
import type { Appended, Head, Journal, JournalReader, TrailReader } from '../../src/core/ports.js';
import { fundingKey, initialState, reservationKey } from '../../src/core/state.js';
import type { Account, Funding, LedgerState, MaxCost, Reservation } from '../../src/core/state.js';

const LEDGER = '0198c5a0-0000-7000-8000-000000000000';
export const PARTITIONS = 4;
const BEGIN_MS = Date.parse('2026-03-01T12:00:00.000Z');

const emptyLogs = (): StoredEvent[][] => Array.from({ length: PARTITIONS }, () => []);
const emptyTails = (): LogTail[] =>
  Array.from({ length: PARTITIONS }, (_none, partition) => ({
    ledger: LEDGER,
    partition,
    incarnation: 1,
    position: 0,
    hash: genesisHash(LEDGER, partition),
  }));

/** The journal's words over a log in memory, decided by the real core: for tests of what lies in front of a ledger. */
export class MemoryJournal implements Journal, JournalReader, TrailReader {
  state: LedgerState = initialState();
  logs: StoredEvent[][] = emptyLogs();
  /** Raised by the next append or read, once. */
  failure: Error | undefined;
  /** Milliseconds since 1970; the test moves it. */
  nowMs = BEGIN_MS;
  /** The most appends that were under way at one time. */
  atOnceMax = 0;
  private atOnce = 0;
  private tails: LogTail[] = emptyTails();

  /** Forgets everything, as if it had just been made. */
  reset(): void {
    this.state = initialState();
    this.logs = emptyLogs();
    this.tails = emptyTails();
    this.nowMs = BEGIN_MS;
    this.failure = undefined;
    this.atOnceMax = 0;
  }

  async append(command: Command): Promise<Appended> {
    this.atOnce++;
    this.atOnceMax = Math.max(this.atOnceMax, this.atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    this.atOnce--;
    this.raise();
    const partition = partitionOf(command.tenant, PARTITIONS);
    const tail = this.tails[partition];
    if (tail === undefined) throw new Error('There is no such partition.');
    const { decision, events } = execute(this.state, tail, command, this.nowMs);
    this.logs[partition]?.push(...events);
    return { decision, partition, events };
  }

  heads(): Promise<Head[]> {
    return Promise.resolve(this.tails);
  }

  read(partition: number, after: number, limit: number): Promise<StoredEvent[]> {
    return Promise.resolve(this.logs[partition]?.slice(after, after + limit) ?? []);
  }

  account(account: string): Promise<Account | undefined> {
    return Promise.resolve(this.state.accounts.get(account));
  }

  reservation(tenant: string, id: string): Promise<Reservation | undefined> {
    return Promise.resolve(this.state.reservations.get(reservationKey(tenant, id)));
  }

  funding(tenant: string, kind: Funding['kind'], id: string): Promise<Funding | undefined> {
    return Promise.resolve(this.state.fundings.get(fundingKey(tenant, kind, id)));
  }

  maxCosts(models?: readonly string[]): Promise<MaxCost[]> {
    return Promise.resolve([...this.state.maxCosts.values()].filter((m) => models?.includes(m.model) ?? true));
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- a failure must reject, not throw
  async accountAt(account: string, at?: AsOf): Promise<AccountAt | undefined> {
    this.raise();
    const log = this.logOf(account).filter(({ event }) => {
      if (at === undefined) return true;
      return 'position' in at ? event.position <= at.position : event.timeMs <= at.timeMs;
    });
    const state = initialState();
    for (const { event } of log) evolve(state, event);
    const found = state.accounts.get(account);
    const last = log.at(-1)?.event;
    if (found === undefined || last === undefined) return undefined;
    return { account: found, position: last.position, asOfMs: at === undefined ? this.nowMs : last.timeMs };
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- a failure must reject, not throw
  async trail(account: string, page: TrailPage): Promise<TrailSlice> {
    this.raise();
    let balanceAfter = EMPTY_BUCKETS;
    const entries = this.logOf(account).flatMap((stored) => {
      const { data } = stored.event;
      const posting = data.postings.find((p) => p.account === account);
      if (posting === undefined && !('account' in data && data.account === account)) return [];
      if (posting !== undefined) balanceAfter = addPosting(balanceAfter, posting);
      return [{ stored, balanceAfter }];
    });
    const inOrder = page.order === 'oldest_first' ? entries : entries.reverse();
    const sign = page.order === 'oldest_first' ? 1 : -1;
    const { after, fromMs = -Infinity, toMs = Infinity } = page;
    const rest = inOrder.filter(({ stored: { event } }) => {
      const further = after === undefined || (event.position - after) * sign > 0;
      return further && event.timeMs >= fromMs && event.timeMs < toMs;
    });
    const slice = rest.slice(0, page.limit);
    const last = slice.at(-1)?.stored.event.position;
    return rest.length > slice.length && last !== undefined ? { entries: slice, next: last } : { entries: slice };
  }

  reservationHistory(tenant: string, id: string): Promise<ReservationHistory | undefined> {
    const reservation = this.state.reservations.get(reservationKey(tenant, id));
    const events = this.logOf(tenant).filter(
      ({ event }) => event.tenant === tenant && 'reservation_id' in event.data && event.data.reservation_id === id,
    );
    return Promise.resolve(reservation === undefined ? undefined : { reservation, events });
  }

  private logOf(account: string): readonly StoredEvent[] {
    return this.logs[partitionOf(account.split('/', 1)[0] ?? '', PARTITIONS)] ?? [];
  }

  private raise(): void {
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
  }
}
