import { readFile, writeFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadMigrations } from '../../src/journal/migration-files.js';
import { LedgerMismatchError, PROGRAM_VERSION, PostgresJournal, migrate, openLedger } from '../../src/journal/index.js';
import {
  SETTINGS,
  benches,
  done,
  dropDatabase,
  emptyDatabase,
  funded,
  open,
  reserve,
  superuser,
} from './journal-setting.js';
import { dumpSchema } from './schema-dump.js';

const SCHEMA_FILE = new URL('../schema.sql', import.meta.url);

const databases = benches();
const made: string[] = [];
let migrated: string;

const empty = async (): Promise<string> => {
  const url = await emptyDatabase();
  made.push(url);
  return url;
};

beforeAll(async () => {
  migrated = await empty();
  await migrate({ url: migrated }, SETTINGS);
});
afterAll(async () => {
  await Promise.all(made.map(dropDatabase));
  await databases.remove();
});

test('two that start at once on an empty database: every migration happens once, and both see the same ledger', async () => {
  const url = await empty();
  const results = await Promise.all(Array.from({ length: 4 }, () => migrate({ url }, SETTINGS)));
  expect(results.map((result) => result.applied).filter((applied) => applied.length > 0)).toEqual([
    loadMigrations().map(({ name }) => name),
  ]);
  expect(results.filter((result) => result.created)).toHaveLength(1);
  expect(new Set(results.map((result) => result.ledger.ledger)).size).toBe(1);
  expect(results.every((result) => result.to === PROGRAM_VERSION)).toBe(true);
  expect(await migrate({ url }, SETTINGS)).toMatchObject({ from: PROGRAM_VERSION, applied: [], created: false });
});

test('several databases of one cluster at once: the role is theirs together', async () => {
  const urls = await Promise.all([empty(), empty(), empty()]);
  await superuser(migrated, `select 1`);
  const results = await Promise.all(urls.map((url) => migrate({ url }, SETTINGS)));
  expect(results.every((result) => result.created)).toBe(true);
});

test('a migration that fails leaves nothing behind, and says which it was', async () => {
  const url = await empty();
  const broken = { number: PROGRAM_VERSION + 1, name: 'broken', sql: 'create table holdfast.half (); select 1/0' };
  await expect(migrate({ url }, SETTINGS, [...loadMigrations(), broken])).rejects.toThrow(/Migration \d+ \(broken\)/);
  expect(await superuser(url, `select to_regclass('holdfast.half') as half`)).toEqual([{ half: null }]);
  expect(await superuser(url, 'select max(number) as number from holdfast.migrations')).toEqual([
    { number: PROGRAM_VERSION },
  ]);
});

test('a program older than the database allows is refused in words; a newer database that allows it is fine', async () => {
  const url = await empty();
  const later = { number: PROGRAM_VERSION + 1, name: 'later', sql: 'create table holdfast.later ()' };
  await migrate({ url }, SETTINGS, [...loadMigrations(), later]);
  expect(await openLedger({ url }, SETTINGS)).toMatchObject({ schemaVersion: PROGRAM_VERSION + 1 });
  expect(await migrate({ url }, SETTINGS)).toMatchObject({ applied: [], to: PROGRAM_VERSION + 1 });
  await superuser(url, `update holdfast.ledger set oldest_program = ${(PROGRAM_VERSION + 1).toString()}`);
  await expect(openLedger({ url }, SETTINGS)).rejects.toThrow(/too old.*Run a later release/);
  await expect(migrate({ url }, SETTINGS)).rejects.toThrow(/too old.*Nothing was changed/);
});

test('a program that runs on while the database is moved past it stops writing', async () => {
  const b = await databases.bench();
  const journal = b.journal();
  await funded(journal, 'acme', 10n);
  await b.sql(`update holdfast.ledger set oldest_program = ${(PROGRAM_VERSION + 1).toString()}`);
  await expect(journal.append(reserve('acme', 'r', 1n))).rejects.toMatchObject({ code: 'journal_unavailable' });
  await b.close();
});

test('a database that is behind, empty, or holds another ledger is refused in words', async () => {
  const url = await empty();
  await expect(openLedger({ url }, SETTINGS)).rejects.toThrow(/holdfast migrate/);
  await expect(openLedger({ url: migrated }, { ...SETTINGS, partitions: 16 })).rejects.toThrow(
    /created with 8 partitions.*says 16.*HOLDFAST_LEDGER_PARTITIONS=8/,
  );
  await expect(openLedger({ url: migrated }, { ...SETTINGS, name: 'other' })).rejects.toThrow(LedgerMismatchError);
  await expect(openLedger({ url: migrated }, SETTINGS, PROGRAM_VERSION + 1)).rejects.toThrow(/Run: holdfast migrate/);
});

test('an ordinary login that is no superuser can migrate and run', async () => {
  const url = await empty();
  const name = new URL(url).pathname.slice(1);
  await superuser(url, `create role ${name} login password 'secret'; alter database ${name} owner to ${name}`);
  const login = new URL(url);
  login.username = name;
  login.password = 'secret';
  // The role is there already, made by another login.
  await expect(migrate({ url: login.href }, SETTINGS)).rejects.toThrow(/GRANT holdfast_writer TO/);
  await superuser(url, `grant holdfast_writer to ${name}`);
  const { ledger } = await migrate({ url: login.href }, SETTINGS);
  const journal = new PostgresJournal({ postgres: { url: login.href }, identity: ledger, onFault: () => undefined });
  done(await journal.append(open('acme')));
  await journal.close();
  await dropDatabase(url);
  await superuser(migrated, `drop owned by ${name}; drop role ${name}`);
});

test.each(['events', 'postings'])(
  "%s is append-only: by the writer's rights, and by triggers for everybody else",
  async (table) => {
    const b = await databases.bench();
    const journal = b.journal();
    await funded(journal, 'acme', 10n);
    const client = new pg.Client({ connectionString: b.url });
    await client.connect();
    const changes = [
      `update holdfast.${table} set position = position + 100`,
      `delete from holdfast.${table}`,
      `truncate holdfast.${table}`,
    ];
    await client.query('set role holdfast_writer');
    for (const change of changes) await expect(client.query(change)).rejects.toThrow(/permission denied/);
    await client.query('reset role');
    for (const change of changes) await expect(client.query(change)).rejects.toThrow(/append-only/);
    // ENABLE ALWAYS: this switch silences ordinary triggers.
    await client.query('set session_replication_role = replica');
    for (const change of changes) await expect(client.query(change)).rejects.toThrow(/append-only/);
    await client.end();
    await b.close();
  },
);

test('every connection of the program acts as holdfast_writer', async () => {
  const b = await databases.bench();
  const journal = b.journal();
  await funded(journal, 'acme', 10n);
  await b.reading.reader.heads();
  const tables = ['events', 'postings'].map((table) => `'holdfast.${table}'`);
  for (const table of tables)
    for (const right of ['update', 'delete', 'truncate'])
      expect(await b.sql(`select has_table_privilege('holdfast_writer', ${table}, '${right}') as may`)).toEqual([
        { may: false },
      ]);
  await b.close();
});

test('the schema is the one that test/schema.sql shows (UPDATE_SCHEMA=1 renews it)', async () => {
  const dumped = await dumpSchema(migrated);
  if (process.env['UPDATE_SCHEMA'] === '1') await writeFile(SCHEMA_FILE, dumped);
  expect(dumped).toBe(await readFile(SCHEMA_FILE, 'utf8'));
});
