/** What the journal's tests share: a database of their own, copied from a migrated template, and short commands. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { eventFrom } from '../../events/index.js';
import type { EncodedEvent, LedgerEvent } from '../../events/index.js';
import type { Command, Finalize, Reserve } from '../../src/core/command.js';
import type { Decision } from '../../src/core/decide/index.js';
import type { Appended } from '../../src/core/ports.js';
import { PostgresJournal, migrate, openLedger, openReading } from '../../src/journal/index.js';
import type { JournalOptions, JournalReading, LedgerRecord, LedgerSettings } from '../../src/journal/index.js';

export const SETTINGS = { name: 'holdfast', partitions: 8 } as const;

/** A body from the log, without the schema's check. */
export const decode = (body: string): LedgerEvent => eventFrom(JSON.parse(body) as EncodedEvent, () => undefined);

const urlOf = (database: string): string => {
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${database}`;
  return url.href;
};

/** Runs SQL as the superuser. Answers the last statement's rows. */
export const superuser = async (
  url: string,
  sql: string,
  values?: readonly unknown[],
): Promise<Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const result = await client.query<Record<string, unknown>>(sql, values === undefined ? undefined : [...values]);
    const last = Array.isArray(result) ? (result as unknown as (typeof result)[]).at(-1) : result;
    return last?.rows ?? [];
  } finally {
    await client.end();
  }
};

/** An empty database. */
export const emptyDatabase = async (): Promise<string> => {
  const name = `journal_${randomBytes(6).toString('hex')}`;
  await superuser(inject('postgresUrl'), `create database ${name}`);
  return urlOf(name);
};

export const dropDatabase = async (url: string): Promise<void> => {
  await superuser(inject('postgresUrl'), `drop database if exists ${new URL(url).pathname.slice(1)} with (force)`);
};

/** A database and what works on it; `close` ends all and drops it. */
export interface Bench {
  readonly url: string;
  readonly ledger: LedgerRecord;
  readonly reading: JournalReading;
  readonly faults: string[];
  journal(options?: Partial<JournalOptions>): PostgresJournal;
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** Makes a template once for a test file; each `bench()` is a fresh copy of it. */
export const benches = (settings: LedgerSettings = SETTINGS): { bench(): Promise<Bench>; remove(): Promise<void> } => {
  let template: Promise<string> | undefined;
  const prepare = async (): Promise<string> => {
    const url = await emptyDatabase();
    await migrate({ url }, settings);
    return url;
  };
  return {
    bench: async () => {
      const from = new URL(await (template ??= prepare())).pathname.slice(1);
      const name = `${from}_${randomBytes(3).toString('hex')}`;
      await superuser(inject('postgresUrl'), `create database ${name} template ${from}`);
      return benchOn(urlOf(name), settings);
    },
    remove: async () => {
      if (template !== undefined) await dropDatabase(await template);
    },
  };
};

const benchOn = async (url: string, settings: LedgerSettings): Promise<Bench> => {
  const ledger = await openLedger({ url }, settings);
  const reading = openReading({ postgres: { url }, identity: ledger, decode });
  const faults: string[] = [];
  const journals: PostgresJournal[] = [];
  return {
    url,
    ledger,
    reading,
    faults,
    journal: (options = {}) => {
      const onFault = (error: unknown, what: string): void => void faults.push(`${what}: ${String(error)}`);
      const made = new PostgresJournal({ postgres: { url }, identity: ledger, onFault, ...options });
      journals.push(made);
      return made;
    },
    sql: (text, values) => superuser(url, text, values),
    close: async () => {
      await Promise.all(journals.map((journal) => journal.close()));
      await reading.close();
      await dropDatabase(url);
    },
  };
};

export const open = (tenant: string, more: Partial<Extract<Command, { kind: 'open_account' }>> = {}): Command => ({
  kind: 'open_account',
  tenant,
  account: tenant,
  unit: 'USD',
  scale: 6,
  overdraftLimit: 0n,
  exempt: false,
  ...more,
});

export const recharge = (tenant: string, id: string, amount: bigint, reference?: string): Command => ({
  kind: 'recharge',
  tenant,
  account: tenant,
  id,
  amount,
  ...(reference === undefined ? {} : { reference }),
});

export const reserve = (tenant: string, id: string, amount: bigint, more: Partial<Reserve> = {}): Reserve => ({
  kind: 'reserve',
  tenant,
  id,
  accounts: [tenant],
  requested: { kind: 'sole', amount },
  policy: 'larger',
  ttlSeconds: 600,
  level: 'durable',
  ...more,
});

export const finalize = (tenant: string, id: string, amount: bigint, more: Partial<Finalize> = {}): Finalize => ({
  kind: 'finalize',
  tenant,
  id,
  cost: { kind: 'sole', amount },
  ...more,
});

/** The decision, which must have gone through. */
export const done = ({ decision }: Appended): Extract<Decision, { outcome: 'done' }> => {
  if (decision.outcome === 'rejected') throw new Error(`Refused: ${decision.rejection.code}`);
  return decision;
};

/** Why it was refused. */
export const refusal = ({ decision }: Appended): string =>
  decision.outcome === 'rejected' ? decision.rejection.code : 'accepted';

/** Opens a tenant's wallet with a balance. */
export const funded = async (journal: PostgresJournal, tenant: string, amount: bigint): Promise<void> => {
  done(await journal.append(open(tenant)));
  done(await journal.append(recharge(tenant, 'first', amount)));
};
