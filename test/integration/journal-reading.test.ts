import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import type { TrailPage, TrailSlice } from '../../src/core/history.js';
import { partitionOf } from '../../src/core/partition.js';
import type { Account, Reservation } from '../../src/core/state.js';
import { SETTINGS, benches, done, finalize, funded, open, recharge, reserve } from './journal-setting.js';
import type { Bench } from './journal-setting.js';

const databases = benches();
let b: Bench;
const partition = partitionOf('acme', SETTINGS.partitions);

beforeEach(async () => {
  b = await databases.bench();
});
afterEach(() => b.close());
afterAll(() => databases.remove());

const positions = (slice: TrailSlice): number[] => slice.entries.map(({ stored }) => stored.event.position);
const all = { order: 'oldest_first', limit: 100 } as const;

/** Positions 1 to 8: opened, recharged, reserved, another account opened, reserved from both, extended, finalized, refunded. */
const history = async (): Promise<void> => {
  const journal = b.journal();
  await funded(journal, 'acme', 1_000n);
  done(await journal.append(reserve('acme', 'r1', 100n)));
  done(await journal.append(open('acme', { account: 'acme/team', overdraftLimit: 500n })));
  done(await journal.append(reserve('acme', 'r2', 50n, { accounts: ['acme', 'acme/team'] })));
  done(await journal.append({ kind: 'extend', tenant: 'acme', id: 'r2', ttlSeconds: 3_000 }));
  done(await journal.append(finalize('acme', 'r1', 130n)));
  done(await journal.append({ kind: 'refund', tenant: 'acme', id: 'r2', reason: 'failed' }));
};

test('an account’s trail: its events and its balance after each, in pages, in both directions', async () => {
  await history();
  const trail = (page: Partial<TrailPage>): Promise<TrailSlice> => b.reading.trail.trail('acme', { ...all, ...page });
  const forward = await trail({});
  expect(positions(forward)).toEqual([1, 2, 3, 5, 6, 7, 8]);
  expect(forward.next).toBeUndefined();
  expect(
    forward.entries.map(({ balanceAfter }) => [balanceAfter.available, balanceAfter.held, balanceAfter.used]),
  ).toEqual([
    [0n, 0n, 0n],
    [1000n, 0n, 0n],
    [900n, 100n, 0n],
    [850n, 150n, 0n],
    [850n, 150n, 0n],
    [820n, 50n, 130n],
    [870n, 0n, 130n],
  ]);
  expect(forward.entries[0]?.stored).toEqual((await b.reading.reader.read(partition, 0, 1))[0]);
  expect(positions(await trail({ order: 'newest_first' }))).toEqual([8, 7, 6, 5, 3, 2, 1]);
  const first = await trail({ limit: 3 });
  expect([positions(first), first.next]).toEqual([[1, 2, 3], 3]);
  const second = await trail({ limit: 3, after: 3 });
  expect([positions(second), second.next]).toEqual([[5, 6, 7], 7]);
  const back = await trail({ limit: 3, order: 'newest_first', after: 6 });
  expect([positions(back), back.next]).toEqual([[5, 3, 2], 2]);
  expect(positions(await b.reading.trail.trail('acme/team', all))).toEqual([4, 5, 6, 8]);
  expect(await b.reading.trail.trail('nobody', all)).toEqual({ entries: [] });
});

test('a trail between two times: from inclusive, to exclusive', async () => {
  await history();
  const journal = b.journal();
  const times: number[] = [];
  for (let n = 0; n < 6; n++) {
    const ms = Date.now() + (n + 1) * 60_000;
    await b.sql(`update holdfast.heads set last_event_ms = ${ms.toString()}`);
    times.push(ms);
    done(await journal.append(recharge('acme', `later-${n.toString()}`, 1n)));
  }
  const [from = 0, , , to = 0] = times.slice(1);
  const between = { ...all, fromMs: from, toMs: to } as const;
  expect(positions(await b.reading.trail.trail('acme', between))).toEqual([10, 11, 12]);
  expect(positions(await b.reading.trail.trail('acme', { ...between, order: 'newest_first', limit: 2 }))).toEqual([
    12, 11,
  ]);
  expect(positions(await b.reading.trail.trail('acme', { ...all, toMs: 0 }))).toEqual([]);
  expect(positions(await b.reading.trail.trail('acme', { ...all, fromMs: times[5] ?? 0 }))).toEqual([14]);
  expect((await b.reading.trail.accountAt('acme', { timeMs: from }))?.position).toBe(10);
  expect((await b.reading.trail.accountAt('acme', { timeMs: from - 1 }))?.position).toBe(9);
});

test('an account as it was: at a position, between its events, before it existed, after the end', async () => {
  await history();
  const at = async (position: number): Promise<unknown[] | undefined> => {
    const found = await b.reading.trail.accountAt('acme/team', { position });
    return found && [found.position, found.account.position, found.account.available, found.account.held];
  };
  expect(await at(3)).toBeUndefined();
  expect(await at(4)).toEqual([4, 4, 0n, 0n]);
  expect(await at(5)).toEqual([5, 5, -50n, 50n]);
  expect(await at(7)).toEqual([7, 6, -50n, 50n]);
  expect(await at(8)).toEqual([8, 8, 0n, 0n]);
  expect(await at(1_000)).toEqual([8, 8, 0n, 0n]);
  const now = await b.reading.trail.accountAt('acme/team');
  expect(now).toMatchObject({ position: 8, account: { overdraftLimit: 500n, available: 0n } });
  expect(Math.abs((now?.asOfMs ?? 0) - Date.now())).toBeLessThan(60_000);
  const [event] = await b.reading.reader.read(partition, 4, 1);
  expect((await b.reading.trail.accountAt('acme', { position: 5 }))?.asOfMs).toBe(event?.event.timeMs);
  expect(await b.reading.trail.accountAt('acme', { timeMs: 0 })).toBeUndefined();
});

test('a reservation with its events', async () => {
  await history();
  const found = await b.reading.trail.reservationHistory('acme', 'r2');
  expect(found?.events.map(({ event }) => event.name)).toEqual(['Reserved', 'Extended', 'Refunded']);
  expect(found?.reservation).toMatchObject({ state: 'refunded', reason: 'failed', closedPosition: 8 });
  expect(await b.reading.trail.reservationHistory('other', 'r2')).toBeUndefined();
});

const gather = async <T>(chunks: AsyncIterable<readonly T[]>): Promise<T[]> => {
  const rows: T[] = [];
  for await (const chunk of chunks) rows.push(...chunk);
  return rows;
};

test('a snapshot is one moment: what is committed meanwhile does not show in any of its parts', async () => {
  await history();
  const journal = b.journal();
  await b.reading.snapshots.withSnapshot(partition, async (snapshot) => {
    done(await journal.append(recharge('acme', 'meanwhile', 5n)));
    done(await journal.append(reserve('acme', 'meanwhile', 5n)));
    done(await journal.append(open('acme', { account: 'acme/new' })));
    expect(snapshot.head).toMatchObject({ partition, position: 8, incarnation: 1 });
    const accounts: Account[] = await gather(snapshot.accounts(1));
    expect(accounts.map((a) => [a.account, a.available])).toEqual([
      ['acme', 870n],
      ['acme/team', 0n],
    ]);
    expect(await snapshot.accountsNamed(['acme', 'acme/new', 'nobody'])).toEqual(accounts.slice(0, 1));
    expect(await gather(snapshot.openReservations(10))).toEqual([]);
    const closed: Reservation[] = await gather(snapshot.closedReservations(3_600_000, 1));
    expect(closed.map(({ id }) => id)).toEqual(['r1', 'r2']);
    expect(await gather(snapshot.closedReservations(-60_000, 10))).toEqual([]);
    const asked = ['r1', 'unknown', 'meanwhile'].map((id) => ({ tenant: 'acme', id }));
    expect((await snapshot.known(asked)).map(({ id }) => id)).toEqual(['r1']);
    expect((await snapshot.events(6, 100)).map(({ event }) => event.position)).toEqual([7, 8]);
  });
  await b.reading.snapshots.withSnapshot(partition, async (snapshot) => {
    expect(snapshot.head.position).toBe(11);
    expect((await gather(snapshot.openReservations(10))).map(({ id }) => id)).toEqual(['meanwhile']);
  });
});

test('a snapshot whose reader raises is ended, and its connection serves the next', async () => {
  const failing = b.reading.snapshots.withSnapshot(partition, () => Promise.reject(new Error('reader')));
  await expect(failing).rejects.toThrow('reader');
  expect(
    await b.sql(
      `select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
    ),
  ).toEqual([]);
  expect(await b.reading.reader.heads()).toHaveLength(SETTINGS.partitions);
});

test('more than 10 rows at once stream in chunks, all of them once', async () => {
  const journal = b.journal();
  await funded(journal, 'acme', 1_000n);
  const ids = Array.from({ length: 95 }, (_, n) => `r${n.toString()}`);
  await Promise.all(ids.map((id) => journal.append(reserve('acme', id, 1n))));
  const sizes: number[] = [];
  const seen = await b.reading.snapshots.withSnapshot(partition, async (snapshot) => {
    const found: string[] = [];
    for await (const chunk of snapshot.openReservations(10)) {
      sizes.push(chunk.length);
      found.push(...chunk.map(({ id }) => id));
    }
    return found;
  });
  expect(sizes).toEqual([10, 10, 10, 10, 10, 10, 10, 10, 10, 5]);
  expect(seen.sort()).toEqual(ids.sort());
});
