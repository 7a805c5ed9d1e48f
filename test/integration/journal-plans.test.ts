import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { APPEND_STATEMENTS } from '../../src/journal/journal.js';
import { PLANNING } from '../../src/journal/session.js';
import { READING_STATEMENTS } from '../../src/journal/reading.js';
import type { Statement } from '../../src/journal/statement.js';
import { benches, done, finalize, funded, recharge, reserve } from './journal-setting.js';
import type { Bench } from './journal-setting.js';

const databases = benches();
let b: Bench;

const ROWS = 10_000;
/** Tables that grow with use. */
const GROWING = ['events', 'postings', 'accounts', 'reservations', 'fundings'];

/** Ten thousand of everything, each ledger row in its form if not in its meaning. */
const fill = `
  insert into holdfast.accounts select 'a' || n, 'a' || n, n % 8, 'USD', 6, 0, false, 0, 0, 0, 0, n, null from generate_series(1, ${ROWS.toString()}) n;
  insert into holdfast.events select n % 8, 1000000 + n, decode(repeat('00', 32), 'hex'), '{}' from generate_series(1, ${ROWS.toString()}) n;
  insert into holdfast.postings select 'a' || n, n, n % 8, 0, 0, 0, 0 from generate_series(1, ${ROWS.toString()}) n;
  insert into holdfast.reservations select 'a' || n, 'r', n % 8, 'open', true, array['a' || n], array['USD'], 'gpt', 9e15, n, null, null, array[n], '{}' from generate_series(1, ${ROWS.toString()}) n;
  insert into holdfast.fundings select 'a' || n, 'recharge', 'f', 'a' || n, 1, 'ref' || n, null, n from generate_series(1, ${ROWS.toString()}) n`;

beforeAll(async () => {
  b = await databases.bench();
});
afterAll(async () => {
  await b.close();
  await databases.remove();
});

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Scans of a growing table that are no index look-ups. */
const explain = async (client: pg.Client, { name, text }: Statement<unknown>): Promise<string[]> => {
  const parameters = new Set(text.match(/\$\d+/g) ?? []).size;
  const values = Array.from({ length: parameters }, () => 'null').join(', ');
  await client.query(`prepare ${name} as ${text}`);
  const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ Plan: Plan }] }>(
    `explain (format json) execute ${name}${parameters === 0 ? '' : `(${values})`}`,
  );
  const nodes = rows.flatMap((row) => nodesOf(row['QUERY PLAN'][0].Plan));
  return nodes
    .filter((node) => GROWING.includes(node['Relation Name'] ?? '') && node['Node Type'] !== 'ModifyTable')
    .filter((node) => !node['Node Type'].startsWith('Index') || node['Index Cond'] === undefined)
    .map((node) => `${name}: ${node['Node Type']} on ${node['Relation Name'] ?? ''}`);
};

test.each([
  ['empty tables', false],
  ['ten thousand rows', true],
])('every statement is an index look-up, with generic plans made on %s', async (_, filled) => {
  if (filled) await b.sql(`${fill}; analyze`);
  const client = new pg.Client({ connectionString: b.url });
  await client.connect();
  await client.query(PLANNING.join('; '));
  const statements = new Map([...APPEND_STATEMENTS, ...READING_STATEMENTS].map((one) => [one.name, one]));
  const selects = [...statements.values()].filter(({ text }) => /^\s*(select|insert|update)/.test(text));
  expect(selects.length).toBeGreaterThan(30);
  const scans: string[] = [];
  for (const statement of selects) scans.push(...(await explain(client, statement)));
  await client.end();
  expect(scans).toEqual([]);
});

test('among ten thousand rows, a command reads the few that it names', async () => {
  const journal = b.journal();
  await Promise.all(Array.from({ length: 20 }, (_, n) => funded(journal, `t${n.toString()}`, 1_000n)));
  const count = async (): Promise<number> => {
    const rows = await b.sql(
      `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as n from pg_stat_user_tables
       where schemaname = 'holdfast' and relname = any($1)`,
      [GROWING],
    );
    return Number(rows[0]?.['n']);
  };
  const settled = async (): Promise<number> => {
    let before = -1;
    for (let now = await count(); now !== before; now = await count()) {
      before = now;
      await b.sql('select pg_sleep(1.1)');
    }
    return before;
  };
  const before = await settled();
  await Promise.all(
    Array.from({ length: 100 }, async (_, n) => {
      const tenant = `t${(n % 20).toString()}`;
      const id = `r${n.toString()}`;
      done(await journal.append(reserve(tenant, id, 5n, { model: 'gpt' })));
      done(await journal.append(finalize(tenant, id, 3n)));
      done(await journal.append(recharge(tenant, id, 3n, `pay-${id}`)));
    }),
  );
  // 300 commands, each with a handful of rows to read, change, and read again.
  expect((await settled()) - before).toBeLessThan(300 * 10);
});
