import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { PostgresElections, openReading } from '../../src/journal/index.js';
import { startProxy } from '../stack/proxy.js';
import { SETTINGS, benches, decode } from './journal-setting.js';
import type { Bench } from './journal-setting.js';

const databases = benches();
let b: Bench;

beforeEach(async () => {
  b = await databases.bench();
});
afterEach(() => b.close());
afterAll(() => databases.remove());

const PARTITIONS = Array.from({ length: SETTINGS.partitions }, (_, n) => n);

test('keys: stored by hash, found, listed, revoked for good', async () => {
  const { keys } = b.reading;
  const secretSha256 = createHash('sha256').update('secret').digest();
  const made = await keys.insert({
    id: 'k1',
    secretSha256,
    scopes: ['reserve', 'read'],
    label: 'ops, "prod" {1}',
    tenant: 'acme',
  });
  await keys.insert({ id: 'k2', secretSha256, scopes: [], label: '' });
  expect(await keys.find('k1')).toEqual(made);
  expect(made).toMatchObject({ tenant: 'acme', scopes: ['reserve', 'read'], label: 'ops, "prod" {1}', secretSha256 });
  expect((await keys.list()).map(({ id }) => id)).toEqual(['k1', 'k2']);
  await expect(keys.insert({ id: 'k1', secretSha256, scopes: [], label: '' })).rejects.toThrow(/k1 is taken/);
  const revoked = await keys.revoke('k1');
  expect(revoked?.revokedAtMs).toBeGreaterThan(0);
  expect(await keys.revoke('k1')).toEqual(revoked);
  expect(await keys.revoke('k9')).toBeUndefined();
  expect(await keys.find('k9')).toBeUndefined();
});

test('epochs: raised once for each new server, however many notice at once', async () => {
  const { epochs } = b.reading;
  const ask = (run: string, repl = 'x'): Promise<(number | undefined)[]> =>
    epochs.confirm(PARTITIONS, run, repl).then((found) => PARTITIONS.map((partition) => found.get(partition)));
  const same = (epoch: number): number[] => PARTITIONS.map(() => epoch);
  expect(await Promise.all(Array.from({ length: 8 }, () => ask('one')))).toEqual(
    Array.from({ length: 8 }, () => same(1)),
  );
  expect(await ask('one')).toEqual(same(1));
  expect(await ask('two')).toEqual(same(2));
  expect(await ask('two', 'y')).toEqual(same(3));
  const other = openReading({ postgres: { url: b.url }, identity: b.ledger, decode });
  const mixed = await Promise.all(
    [...PARTITIONS, ...PARTITIONS].map((p, n) =>
      (n % 2 ? epochs : other.epochs).confirm([p, (p + 3) % 8], 'three', 'y'),
    ),
  );
  expect(mixed.flatMap((found) => [...found.values()])).toEqual(mixed.flatMap(() => [4, 4]));
  await other.close();
});

test('one process at a time holds an office; released or lost, another gets it', async () => {
  const proxy = await startProxy(b.url);
  const mine = new PostgresElections({ url: proxy.through(b.url) });
  const yours = new PostgresElections({ url: b.url });
  const office = await mine.tryElect('relay', 3);
  expect(office?.signal.aborted).toBe(false);
  expect(await mine.tryElect('relay', 3)).toBeUndefined();
  expect(await yours.tryElect('relay', 3)).toBeUndefined();
  const other = await yours.tryElect('relay', 4);
  expect(other?.signal.aborted).toBe(false);
  await office?.release();
  expect(office?.signal.aborted).toBe(true);
  const again = await yours.tryElect('relay', 3);
  expect(again).toBeDefined();
  await again?.release();

  const lost = await mine.tryElect('relay', 3);
  await proxy.refuse();
  await expect.poll(() => lost?.signal.aborted, { timeout: 15_000 }).toBe(true);
  expect(await mine.tryElect('relay', 5)).toBeUndefined();
  await expect.poll(() => yours.tryElect('relay', 3), { timeout: 15_000 }).toBeDefined();
  await proxy.accept();
  expect(await mine.tryElect('relay', 5)).toBeDefined();
  await Promise.all([mine.close(), yours.close()]);
  expect(other?.signal.aborted).toBe(true);
  await proxy.close();
});

test('an office on a line that went dead without a word is lost after a heartbeat', async () => {
  const proxy = await startProxy(b.url);
  const elections = new PostgresElections({ url: proxy.through(b.url) }, { heartbeatMs: 100, timeoutMs: 200 });
  const office = await elections.tryElect('sweeper', 0);
  expect(office?.signal.aborted).toBe(false);
  proxy.delay(60_000);
  await expect.poll(() => office?.signal.aborted, { timeout: 15_000 }).toBe(true);
  await elections.close();
  await proxy.close();
});

test('reads while Postgres is away raise journal_unavailable; a dead idle connection is replaced unseen', async () => {
  const proxy = await startProxy(b.url);
  const reading = openReading({ postgres: { url: proxy.through(b.url) }, identity: b.ledger, decode });
  expect(await reading.reader.heads()).toHaveLength(SETTINGS.partitions);
  await b.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like '%holdfast.heads%' and pid <> pg_backend_pid()`,
  );
  expect(await reading.reader.heads()).toHaveLength(SETTINGS.partitions);
  await proxy.refuse();
  await expect(reading.reader.heads()).rejects.toMatchObject({ code: 'journal_unavailable' });
  await expect(reading.keys.find('k')).rejects.toMatchObject({ code: 'journal_unavailable' });
  await expect(reading.epochs.confirm([0], 'a', 'b')).rejects.toMatchObject({ code: 'journal_unavailable' });
  await proxy.accept();
  expect(await reading.reader.heads()).toHaveLength(SETTINGS.partitions);
  await reading.close();
  await expect(reading.reader.heads()).rejects.toMatchObject({ code: 'stopping' });
  await proxy.close();
});

test('more readers than connections wait their turn; more than may wait are turned away', async () => {
  const reading = openReading({ postgres: { url: b.url }, identity: b.ledger, decode, poolMax: 2, queueMax: 5 });
  const answers = await Promise.allSettled(Array.from({ length: 10 }, () => reading.reader.heads()));
  expect(answers.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 7 }, () => 'fulfilled'),
    ...Array.from({ length: 3 }, () => 'rejected'),
  ]);
  expect(answers[9]).toMatchObject({ reason: { code: 'journal_overloaded' } });
  await reading.close();
});
