import pg from 'pg';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { chainHash, genesisHash } from '../../events/index.js';
import { partitionOf } from '../../src/core/partition.js';
import type { PostgresJournal } from '../../src/journal/index.js';
import { verifyJournalPartition } from '../../src/recovery/verify-journal.js';
import type { PartitionFindings } from '../../src/recovery/verify-journal.js';
import { SETTINGS, benches, decode, done, finalize, funded, open, recharge, reserve } from './journal-setting.js';
import type { Bench } from './journal-setting.js';

const databases = benches();
let b: Bench;

beforeEach(async () => {
  b = await databases.bench();
});
afterEach(() => b.close());
afterAll(() => databases.remove());

const PARTITIONS = Array.from({ length: SETTINGS.partitions }, (_, n) => n);
const verify = (partition: number): Promise<PartitionFindings> =>
  verifyJournalPartition(b.reading.audit, partition, { decode });

const traffic = async (journal: PostgresJournal, tenants: readonly string[], each: number): Promise<void> => {
  await Promise.all(
    tenants.map(async (tenant) => {
      for (let n = 0; n < each; n++) {
        const id = `${tenant}-${n.toString()}`;
        await journal.append(reserve(tenant, id, 10n));
        if (n % 3 === 0) await journal.append(finalize(tenant, id, 7n));
        else if (n % 3 === 1) await journal.append({ kind: 'refund', tenant, id, reason: 'failed' });
        else await journal.append({ kind: 'extend', tenant, id, ttlSeconds: 900 });
      }
    }),
  );
};

/** Does what no right and no trigger allows, as a disk or a superuser might. */
const tamper = (sql: string): Promise<unknown> =>
  b.sql(`alter table holdfast.events disable trigger all; alter table holdfast.postings disable trigger all; ${sql}`);

test('16 writers of 50 events each, over two processes’ journals: every chain verifies, nothing drifts', async () => {
  const [one, two] = [b.journal(), b.journal()];
  const tenants = Array.from({ length: 16 }, (_, n) => `writer-${n.toString()}`);
  await Promise.all(tenants.map((tenant) => funded(one, tenant, 1_000n)));
  await Promise.all([traffic(one, tenants.slice(0, 8), 25), traffic(two, tenants.slice(8), 25)]);
  const findings = await Promise.all(PARTITIONS.map(verify));
  expect(findings.map(({ mismatches, drift }) => [mismatches, drift])).toEqual(PARTITIONS.map(() => [0, 0]));
  expect(findings.reduce((sum, { events }) => sum + events, 0)).toBe(16 * 52);
  expect(b.faults).toEqual([]);
});

test('verify beside live traffic finds nothing wrong', async () => {
  const journal = b.journal();
  const tenants = ['acme', 'globex', 'initech', 'umbrella'];
  await Promise.all(tenants.map((tenant) => funded(journal, tenant, 1_000n)));
  const ended = new AbortController();
  const going = traffic(journal, tenants, 30).finally(() => ended.abort());
  while (!ended.signal.aborted) {
    const findings = await Promise.all(PARTITIONS.map(verify));
    expect(findings.every(({ mismatches, drift }) => mismatches + drift === 0)).toBe(true);
  }
  await going;
});

test('one flipped byte in a body: verify names its position, and only that one', async () => {
  const journal = b.journal();
  await funded(journal, 'acme', 1_000n);
  await traffic(journal, ['acme'], 12);
  const partition = partitionOf('acme', SETTINGS.partitions);
  await tamper(
    `update holdfast.events set body = replace(body, '"ttl_seconds":600', '"ttl_seconds":601')
     where partition = ${partition.toString()} and position = 9`,
  );
  expect(await verify(partition)).toMatchObject({
    mismatches: 1,
    firstMismatch: { position: 9, what: 'the hash is not that of the body' },
    drift: 0,
  });
});

test('an event taken out, a changed balance, a changed trail, a reservation that is not open: each is found', async () => {
  const journal = b.journal();
  await funded(journal, 'acme', 1_000n);
  await traffic(journal, ['acme'], 6);
  const partition = partitionOf('acme', SETTINGS.partitions);
  const at = `partition = ${partition.toString()}`;
  await tamper(`update holdfast.accounts set available = available + 5, used = used - 5`);
  expect(await verify(partition)).toMatchObject({
    mismatches: 0,
    drift: 1,
    drifted: [{ account: 'acme', what: 'available is 971, its events sum up to 966' }],
  });
  await tamper(`update holdfast.postings set held = held + 1 where account = 'acme' and position = 4`);
  await tamper(`delete from holdfast.reservations where state = 'open' and id = 'acme-2'`);
  expect(await verify(partition)).toMatchObject({ mismatches: 0, drift: 3 });
  await tamper(`delete from holdfast.events where ${at} and position = 5`);
  const found = await verify(partition);
  expect(found.firstMismatch).toEqual({ position: 5, what: 'the event is missing; the next is at 6' });
});

test('the log reads by position, in order, each event linked to the one before, in pages', async () => {
  const journal = b.journal();
  await funded(journal, 'acme', 1_000n);
  await traffic(journal, ['acme'], 10);
  const partition = partitionOf('acme', SETTINGS.partitions);
  const [head] = await b.reading.reader.heads([partition]);
  const all = await b.reading.reader.read(partition, 0, 1_000);
  expect(all).toHaveLength(head?.position ?? 0);
  let prevHash = genesisHash(b.ledger.ledger, partition);
  for (const [index, stored] of all.entries()) {
    expect(stored.event.position).toBe(index + 1);
    expect(stored.prevHash).toBe(prevHash);
    expect(stored.hash).toBe(chainHash(prevHash, stored.body));
    prevHash = stored.hash;
  }
  expect(prevHash).toBe(head?.hash);
  expect(await b.reading.reader.read(partition, 5, 3)).toEqual(all.slice(5, 8));
  expect(await b.reading.reader.read(partition, all.length, 10)).toEqual([]);
  expect(await b.reading.reader.read(partition, all.length + 7, 10)).toEqual([]);
});

test('a page of the log stays near 1 MiB, however large the bodies', async () => {
  const journal = b.journal();
  await funded(journal, 'acme', 1_000n);
  const metadata = { note: 'x'.repeat(4_000) };
  await Promise.all(
    Array.from({ length: 400 }, (_, n) => journal.append(reserve('acme', `r${n.toString()}`, 1n, { metadata }))),
  );
  const partition = partitionOf('acme', SETTINGS.partitions);
  const page = await b.reading.reader.read(partition, 0, 10_000);
  const bytes = page.reduce((sum, { body }) => sum + body.length, 0);
  expect(bytes).toBeGreaterThan(1_000_000);
  expect(bytes).toBeLessThan(1_100_000);
  const rest = await b.reading.reader.read(partition, page.length, 10_000);
  expect(page.length + rest.length).toBe(402);
});

test('two transactions at once, the later commits first: positions have no gap and follow the commits', async () => {
  const journal = b.journal({ lanes: 1 });
  await funded(journal, 'acme', 1_000n);
  await funded(journal, 'initech', 1_000n);
  const [first, second] = [partitionOf('acme', SETTINGS.partitions), partitionOf('initech', SETTINGS.partitions)];
  expect(first).not.toBe(second);
  const other = b.journal({ lanes: 1 });
  // Holds back only the first one's transaction, at a row that it must change.
  const blocker = new pg.Client({ connectionString: b.url });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query(`select * from holdfast.accounts where account = 'acme' for update`);
  const held = journal.append(recharge('acme', 'held', 1n));
  await expect
    .poll(
      () => b.sql(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
      { timeout: 15_000 },
    )
    .toHaveLength(1);
  const passed = await other.append(recharge('initech', 'passed', 1n));
  const queued = other.append(recharge('acme', 'queued', 1n));
  await blocker.query('rollback');
  await blocker.end();
  expect(done(passed).position).toBe(3);
  expect([done(await held).position, done(await queued).position].sort()).toEqual([3, 4]);
  const events = await b.reading.reader.read(first, 0, 100);
  expect(events.map(({ event }) => event.position)).toEqual([1, 2, 3, 4]);
  expect(events.map(({ event }) => event.timeMs)).toEqual(
    events.map(({ event }) => event.timeMs).sort((x, y) => x - y),
  );
});

test('time never goes back within a partition, even if the server’s clock does', async () => {
  const journal = b.journal();
  await funded(journal, 'acme', 1_000n);
  const ahead = Date.now() + 3_600_000;
  await b.sql(`update holdfast.heads set last_event_ms = ${ahead.toString()}`);
  const { events } = await journal.append(recharge('acme', 'later', 1n));
  expect(events[0]?.event.timeMs).toBe(ahead);
});

test('event_log shows people the facts, whatever callers put into their metadata', async () => {
  const journal = b.journal();
  await funded(journal, 'acme', 1_000n);
  const metadata = { nul: '\u0000', half: '\udc00', backslash: '\\u0000', fine: 'ü' };
  await journal.append(reserve('acme', 'r', 65n, { model: 'gpt', metadata }));
  await journal.append(open('acme', { account: 'acme/team' }));
  const rows = await b.sql(
    `select event, tenant, subject, amount, unit, model, reservation_id, data->'metadata'->>'fine' as fine,
       time > now() - interval '1 minute' as recent
     from holdfast.event_log where tenant = 'acme' order by position`,
  );
  expect(rows.map((row) => row['event'])).toEqual(['accountopened', 'recharged', 'reserved', 'accountopened']);
  expect(rows[2]).toEqual({
    event: 'reserved',
    tenant: 'acme',
    subject: 'acme',
    amount: '65',
    unit: 'USD',
    model: 'gpt',
    reservation_id: 'r',
    fine: 'ü',
    recent: true,
  });
});
