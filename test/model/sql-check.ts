/** Whether the rows in Postgres say what the fold says: read by the program's own statements, and behind its back. */
import { expect } from 'vitest';
import type { Bucket, Buckets, LedgerEvent } from '../../events/index.js';
import type { Snapshot } from '../../src/core/ports.js';
import { amountIn } from '../../src/core/decide/amounts.js';
import { maxCostKey, reservationKey } from '../../src/core/state.js';
import type { Account, Funding, LedgerState, MaxCost, Reservation } from '../../src/core/state.js';
import { trailPostings } from '../../src/core/trail-postings.js';
import type { SqlLog } from './sql-log.js';

const CHUNK = 50;
const EVER_MS = 100 * 365 * 86_400_000;

type Texts = Readonly<Record<string, string | null>>;

const inText = ({ available, held, used, funded }: Buckets): Texts => ({
  available: available.toString(),
  held: held.toString(),
  used: used.toString(),
  funded: funded.toString(),
});

/** The trail of each account up to where it was compared. */
export class SqlCheck {
  private readonly trail = new Map<string, Buckets>();
  private position = 0;

  constructor(private readonly log: SqlLog) {}

  /** Compares heads, account rows, trail, reservations, payments and max_costs with the fold, and the fold with the plain ledger. */
  async expectAgreement(): Promise<void> {
    const { fold, plain, bench } = this.log;
    for (const [name, { unit, available, held, used, funded }] of plain.accounts)
      expect(fold.state.accounts.get(name), name).toMatchObject({ unit, available, held, used, funded });
    expect(fold.state.accounts.size).toBe(plain.accounts.size);
    expectHoldsToBePlain(this.log);
    const isNew = fold.head.position !== this.position;
    await this.expectRows();
    if (!isNew) return;
    const read = await bench.reading.snapshots.withSnapshot(fold.partition, readAll);
    const { accounts, reservations, maxCosts } = fold.state;
    expect(read).toEqual({ accounts, reservations, maxCosts });
  }

  private async expectRows(): Promise<void> {
    const { admin, fold } = this.log;
    const { accounts, reservations, fundings } = fold.state;
    const expected = [
      [
        {
          position: fold.head.position.toString(),
          hash: fold.head.hash,
          time: fold.events.at(-1)?.event.timeMs.toString(),
        },
      ],
      sorted(accounts).map((a) => ({ account: a.account, ...inText(a), position: a.position.toString() })),
      sorted(reservations).flatMap((r) =>
        r.state === 'open' ? [{ id: r.id, position: r.position.toString(), expires: r.expiresAtMs.toString() }] : [],
      ),
      sorted(fundings).map(fundingTexts),
    ];
    const sql = [HEAD, ACCOUNTS, OPEN, FUNDINGS, trailSince(this.position)].join(';');
    const results = await admin.query<Texts>(sql);
    // Of several statements in one text the driver answers a list, which its types don't say.
    const read = (results as unknown as (typeof results)[]).map(({ rows }) => rows);
    expect(read).toEqual([...expected, this.trailAfter()]);
  }

  /** The trail's rows after the position that was compared before, worked out anew. */
  private trailAfter(): Texts[] {
    const { fold } = this.log;
    const rows = fold.after(this.position).flatMap(({ event }) => this.stepsOf(event));
    this.position = fold.head.position;
    return rows;
  }

  private stepsOf(event: LedgerEvent): Texts[] {
    const steps = trailPostings(event).map(({ account, ...posting }) => {
      const before = this.trail.get(account);
      const sum = (bucket: Bucket): bigint => (before?.[bucket] ?? 0n) + posting[bucket];
      const after = { available: sum('available'), held: sum('held'), used: sum('used'), funded: sum('funded') };
      this.trail.set(account, after);
      return { position: event.position.toString(), account, ...inText(after) };
    });
    return steps.sort((one, other) => (one.account < other.account ? -1 : 1));
  }
}

/** What is held under each id is what its command took. */
const expectHoldsToBePlain = ({ fold, plain }: SqlLog): void => {
  for (const { id, state, accounts, held } of fold.state.reservations.values()) {
    const amounts = plain.heldUnder(id);
    expect(state === 'open', id).toBe(amounts !== undefined);
    for (const { unit } of amounts === undefined ? [] : accounts)
      expect(amountIn(held, unit), `${id} in ${unit}`).toBe(amounts?.get(unit));
  }
};

const HEAD = `select position::text, encode(hash, 'hex') as hash, last_event_ms::text as time from holdfast.heads`;
const ACCOUNTS = `select account, available::text, held::text, used::text, funded::text, position::text
  from holdfast.accounts order by account`;
const OPEN = `select id, position::text, expires_at_ms::text as expires
  from holdfast.reservations where state = 'open' order by tenant, id`;
const FUNDINGS = `select tenant, kind, id, account, amount::text, reference, position::text
  from holdfast.fundings order by tenant, kind, id`;

const trailSince = (position: number): string => `select position::text, account,
    available::text, held::text, used::text, funded::text
  from holdfast.postings p where p.position > ${position.toString()} order by p.position, p.account`;

const fundingTexts = (f: Funding): Texts => ({
  tenant: f.tenant,
  kind: f.kind,
  id: f.id,
  account: f.account,
  amount: f.amount.toString(),
  reference: f.reference ?? null,
  position: f.position.toString(),
});

/** Values in the order of their keys, which is the order of the rows. */
const sorted = <T>(map: ReadonlyMap<string, T>): T[] =>
  [...map].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);

/** Everything that a rebuild reads. */
const readAll = async (snapshot: Snapshot): Promise<Pick<LedgerState, 'accounts' | 'reservations' | 'maxCosts'>> => {
  const accounts = new Map<string, Account>();
  const reservations = new Map<string, Reservation>();
  const maxCosts = new Map<string, MaxCost>();
  for await (const chunk of snapshot.accounts(CHUNK)) for (const row of chunk) accounts.set(row.account, row);
  const keep = (chunk: readonly Reservation[], open: boolean): void => {
    for (const row of chunk) {
      expect(row.state === 'open', row.id).toBe(open);
      reservations.set(reservationKey(row.tenant, row.id), row);
    }
  };
  for await (const chunk of snapshot.openReservations(CHUNK)) keep(chunk, true);
  for await (const chunk of snapshot.closedReservations(EVER_MS, CHUNK)) keep(chunk, false);
  for (const row of await snapshot.maxCosts()) maxCosts.set(maxCostKey(row.model, row.unit), row);
  return { accounts, reservations, maxCosts };
};
