import pg from 'pg';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import type { StoredEvent } from '../../events/index.js';
import type { PostgresJournal } from '../../src/journal/index.js';
import { startProxy } from '../stack/proxy.js';
import type { FaultProxy } from '../stack/proxy.js';
import { benches, done, finalize, funded, open, recharge, refusal, reserve } from './journal-setting.js';
import type { Bench } from './journal-setting.js';

/** How long a condition is waited for: long, for a machine that does much else. */
const WAIT = { timeout: 15_000 };

const databases = benches();
let b: Bench;
let proxy: FaultProxy;
let blocker: pg.Client;

beforeEach(async () => {
  b = await databases.bench();
  proxy = await startProxy(b.url);
  blocker = new pg.Client({ connectionString: b.url });
  await blocker.connect();
});
afterEach(async () => {
  await blocker.end();
  await b.close();
  await proxy.close();
});
afterAll(() => databases.remove());

/** A journal that reaches Postgres through the proxy, already connected. */
const proxied = async (options: Parameters<Bench['journal']>[0] = {}): Promise<PostgresJournal> => {
  const journal = b.journal({ lanes: 1, postgres: { url: proxy.through(b.url) }, ...options });
  await funded(journal, 'acme', 100n);
  return journal;
};

/** Holds up whatever writes the account's row, until `blocker` rolls back. */
const holdUp = async (account: string): Promise<void> => {
  await blocker.query('begin');
  await blocker.query('select * from holdfast.accounts where account = $1 for update', [account]);
};

/** Resolves once a backend waits for the row that `holdUp` holds. Answers its process's number. */
const blockedBackend = async (): Promise<number> => {
  let pid = 0;
  await expect
    .poll(async () => {
      const rows = await b.sql(
        `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'update holdfast.accounts%'`,
      );
      pid = Number(rows[0]?.['pid'] ?? 0);
      return pid;
    }, WAIT)
    .toBeGreaterThan(0);
  return pid;
};

test('the reply to COMMIT is lost and the commit happened: the answer is the truth, and it happened once', async () => {
  const told: (readonly StoredEvent[])[] = [];
  const journal = await proxied({ onCommitted: (_, events) => told.push(events) });
  const lost = proxy.dropRepliesAfter((request) => request.includes('commit\0'));
  const answers = await Promise.all([
    journal.append(reserve('acme', 'r', 60n)),
    journal.append(reserve('acme', 's', 60n)),
    lost,
  ]);
  expect(done(answers[0])).toMatchObject({ replay: false, position: 3 });
  expect(refusal(answers[1])).toBe('insufficient_quota');
  expect(told.at(-1)?.map(({ event }) => event.position)).toEqual([3]);
  expect(await b.reading.reader.account('acme')).toMatchObject({ available: 40n, held: 60n });
  expect(done(await journal.append(reserve('acme', 't', 40n))).position).toBe(4);
});

test('the backend dies with COMMIT on its way: surely not happened, and the same id may try again', async () => {
  const journal = await proxied();
  await holdUp('acme');
  const broken = expect(journal.append(reserve('acme', 'r', 60n))).rejects.toMatchObject({
    code: 'journal_unavailable',
  });
  await b.sql('select pg_terminate_backend($1)', [await blockedBackend()]);
  await blocker.query('rollback');
  await broken;
  expect(await b.reading.reader.reservation('acme', 'r')).toBeUndefined();
  expect(done(await journal.append(reserve('acme', 'r', 60n)))).toMatchObject({ replay: false, position: 3 });
});

test('the line breaks while the old transaction still runs: the answer waits for it', async () => {
  const journal = await proxied();
  await holdUp('acme');
  const answer = journal.append(reserve('acme', 'r', 60n));
  await blockedBackend();
  proxy.cut();
  // The new connection asks for the head's lock, and the old transaction has it.
  await expect
    .poll(
      () =>
        b.sql(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%for update%'`,
        ),
      WAIT,
    )
    .toHaveLength(1);
  await blocker.query('rollback');
  expect(done(await answer)).toMatchObject({ replay: false, position: 3 });
  expect(await b.reading.reader.reservation('acme', 'r')).toMatchObject({ state: 'open', position: 3 });
});

test('Postgres stays away after COMMIT was sent: outcome_unknown, and the same command again learns the truth', async () => {
  const journal = await proxied({ outcomeTimeoutMs: 300 });
  await holdUp('acme');
  const answer = expect(journal.append(reserve('acme', 'r', 60n))).rejects.toMatchObject({ code: 'outcome_unknown' });
  await blockedBackend();
  await proxy.refuse();
  await answer;
  await blocker.query('rollback');
  await proxy.accept();
  await expect.poll(() => b.reading.reader.reservation('acme', 'r'), WAIT).toMatchObject({ state: 'open' });
  expect(done(await journal.append(reserve('acme', 'r', 60n)))).toMatchObject({ replay: true, position: 3 });
});

test('Postgres away: 503 at once for every command, and it goes on when it is back', async () => {
  const journal = await proxied();
  await proxy.refuse();
  const answers = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) => journal.append(reserve('acme', `r${n.toString()}`, 1n))),
  );
  for (const answer of answers)
    expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'journal_unavailable' } });
  await proxy.accept();
  expect(done(await journal.append(reserve('acme', 'r0', 1n))).position).toBe(3);
  await expect(b.reading.reader.account('acme')).resolves.toMatchObject({ held: 1n });
});

test('a line that is cut before COMMIT was sent: nothing happened', async () => {
  const journal = await proxied();
  await blocker.query('begin');
  await blocker.query('select * from holdfast.heads for update');
  const answer = expect(journal.append(reserve('acme', 'r', 1n))).rejects.toMatchObject({
    code: 'journal_unavailable',
  });
  await expect
    .poll(
      () =>
        b.sql(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%heads%'`,
        ),
      WAIT,
    )
    .toHaveLength(1);
  proxy.cut();
  await answer;
  await blocker.query('rollback');
  expect(await b.reading.reader.reservation('acme', 'r')).toBeUndefined();
});

test('a line that goes dead without a word is given up in time, and what was on it surely did not happen', async () => {
  const postgres = { url: proxy.through(b.url), statementTimeoutMs: 300 };
  const journal = await proxied({ postgres });
  proxy.delay(600_000);
  const begun = performance.now();
  await expect(journal.append(reserve('acme', 'r', 1n))).rejects.toMatchObject({ code: 'journal_unavailable' });
  expect(performance.now() - begun).toBeLessThan(10_000);
  proxy.delay(0);
  expect(done(await journal.append(reserve('acme', 'r', 1n)))).toMatchObject({ replay: false, position: 3 });
});

test('more than the queue holds: journal_overloaded, and what was taken in is answered', async () => {
  const journal = b.journal({ lanes: 1, queueMax: 10, groupMax: 4 });
  await funded(journal, 'acme', 100n);
  const answers = await Promise.allSettled(
    Array.from({ length: 30 }, (_, n) => journal.append(reserve('acme', `r${n.toString()}`, 1n))),
  );
  expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(10);
  for (const answer of answers.slice(10))
    expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'journal_overloaded' } });
});

test('a command that waits too long for its group is turned away, and never happens', async () => {
  const journal = b.journal({ lanes: 1, waitMs: 200 });
  await funded(journal, 'acme', 100n);
  await holdUp('acme');
  const first = journal.append(reserve('acme', 'first', 1n));
  await blockedBackend();
  await expect(journal.append(reserve('acme', 'late', 1n))).rejects.toMatchObject({ code: 'journal_overloaded' });
  await blocker.query('rollback');
  done(await first);
  expect(await b.reading.reader.reservation('acme', 'late')).toBeUndefined();
});

test('close answers all that it has taken in, and takes no more', async () => {
  const journal = b.journal();
  await funded(journal, 'acme', 100n);
  const answers = Array.from({ length: 50 }, (_, n) => journal.append(reserve('acme', `r${n.toString()}`, 1n)));
  const closed = journal.close();
  await expect(journal.append(reserve('acme', 'late', 1n))).rejects.toMatchObject({ code: 'stopping' });
  for (const answer of answers) done(await answer);
  await closed;
  expect(
    await b.sql(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'holdfast' and query like '%commit%'`,
    ),
  ).toEqual([{ n: 0 }]);
});

test('a command whose decision raises fails alone, loudly; so does one whose data Postgres refuses', async () => {
  const journal = b.journal({ lanes: 1 });
  await funded(journal, 'acme', 100n);
  const bug = { metadata: { amount: 5n } };
  const nul = 'a\0b';
  const [before, raising, refused, after] = await Promise.allSettled([
    journal.append(reserve('acme', 'before', 10n)),
    journal.append(reserve('acme', 'raising', 10n, bug)),
    journal.append(open('acme', { account: `acme/${nul}` })),
    journal.append(finalize('acme', 'before', 7n)),
  ]);
  expect(before).toMatchObject({ status: 'fulfilled', value: { decision: { position: 3 } } });
  expect(after).toMatchObject({ status: 'fulfilled', value: { decision: { position: 4 } } });
  expect(raising).toMatchObject({ status: 'rejected', reason: { name: 'TypeError' } });
  expect(refused.status).toBe('rejected');
  expect(b.faults.some((fault) => fault.includes('this is a bug'))).toBe(true);
  expect(await b.reading.reader.account('acme')).toMatchObject({ available: 93n, held: 0n, used: 7n });
});

test('a listener that raises neither undoes a commit nor keeps its caller waiting', async () => {
  const journal = b.journal({
    onCommitted: () => {
      throw new Error('listener');
    },
  });
  await funded(journal, 'acme', 100n);
  expect(done(await journal.append(recharge('acme', 'more', 1n))).position).toBe(3);
  expect(b.faults).toContain('onCommitted raised: Error: listener');
});
