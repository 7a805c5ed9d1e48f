import pg from 'pg';
import { ownCpuUs } from '../cpu.js';
import { measureOnce } from '../drive.js';
import type { Measured } from '../drive.js';
import type { BenchSetting } from '../setting.js';

const SCHEMA = 'bench_scratch';
/** What the ledger writes for each event; the order of each is that in which its rows came about. */
const TABLES = ['events', 'postings', 'reservations'] as const;
/** As many events as a group of the ledger has when 256 requests are under way in two lanes. */
const EVENTS_IN_GROUP = 128;

/** One table's share of one group: a statement, and a text[] literal for each column. */
interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly string[];
}

export interface BareInsert {
  /** Inserts all rows once, in as many lanes as the ledger has, and empties the scratch tables again. */
  measure(): Promise<Measured>;
  stop(): Promise<void>;
}

interface Column {
  readonly name: string;
  readonly type: string;
}

const columnsOf = async (client: pg.Client, table: string): Promise<Column[]> => {
  const { rows } = await client.query<Column>(
    `select attname as name, format_type(atttypid, null) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [`holdfast.${table}`],
  );
  return rows;
};

const insertText = (table: string, columns: readonly Column[]): string => {
  const names = columns.map(({ name }) => name).join(', ');
  const parameters = columns.map((_column, i) => `$${i + 1}::text[]`).join(', ');
  const casts = columns.map(({ name, type }) => `k.${name}::${type}`).join(', ');
  return `insert into ${SCHEMA}.${table} (${names}) select ${casts} from unnest(${parameters}) as k(${names})`;
};

/** The ledger's own rows, as parameters ready to be sent: what is measured is the inserting. */
const groupsOf = async (client: pg.Client, table: string, groups: number): Promise<Statement[]> => {
  const columns = await columnsOf(client, table);
  const arrays = columns.map(({ name }) => `array_agg(t.${name}::text)::text`).join(', ');
  const { rows } = await client.query<string[]>({
    rowMode: 'array',
    text: `select ${arrays} from (select *, ntile($1) over (order by position, partition) as tile from holdfast.${table}) t
           group by tile order by tile`,
    values: [groups],
  });
  const text = insertText(table, columns);
  return rows.map((values) => ({ name: `bare_${table}`, text, values }));
};

const prepare = async (client: pg.Client): Promise<{ events: number; groups: Statement[][] }> => {
  await client.query(`drop schema if exists ${SCHEMA} cascade; create schema ${SCHEMA}`);
  for (const table of TABLES)
    await client.query(`create table ${SCHEMA}.${table} (like holdfast.${table} including all)`);
  const { rows } = await client.query<{ count: string }>('select count(*) from holdfast.events');
  const events = Number(rows[0]?.count);
  const count = Math.max(1, Math.round(events / EVENTS_IN_GROUP));
  const byTable: Statement[][] = [];
  for (const table of TABLES) byTable.push(await groupsOf(client, table, count));
  const groups = Array.from({ length: count }, (_unused, i) => byTable.flatMap((statements) => statements[i] ?? []));
  return { events, groups };
};

/**
 * Multi-row INSERTs by unnest of the rows that the ledger has written by now, into copies of its tables with all their
 * indexes and checks; one transaction a group, each committed to disk.
 */
export const openInsert = async ({ config, meters }: BenchSetting): Promise<BareInsert> => {
  const clients = Array.from(
    { length: config.postgres.lanes },
    () => new pg.Client({ connectionString: config.postgres.url }),
  );
  for (const client of clients) await client.connect();
  const [first] = clients;
  if (first === undefined) throw new Error('There is no lane.');
  const { events, groups } = await prepare(first);
  const what = {
    name: 'bare INSERT of the same rows by unnest',
    eventsPerOperation: 1,
    meters: { node: ownCpuUs, ...(meters.postgres === undefined ? {} : { postgres: meters.postgres }) },
  };
  return {
    measure: async () => {
      await first.query(`truncate ${TABLES.map((table) => `${SCHEMA}.${table}`).join(', ')}`);
      const waiting = groups.values();
      return measureOnce(what, async (latencies) => {
        const lane = async (client: pg.Client): Promise<void> => {
          for (const group of waiting) {
            const startMs = performance.now();
            await client.query('begin');
            for (const statement of group) await client.query({ ...statement, values: [...statement.values] });
            await client.query('commit');
            latencies.record(performance.now() - startMs);
          }
        };
        await Promise.all(clients.map(lane));
        return events;
      });
    },
    stop: async () => {
      await first.query(`drop schema if exists ${SCHEMA} cascade`);
      await Promise.all(clients.map((client) => client.end()));
    },
  };
};
