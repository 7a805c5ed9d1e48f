import type { AuditedAccount, TrailRow } from '../../core/audit.js';
import { int8Array, textArray } from '../binary.js';
import { call } from '../statement.js';
import type { Call, Statement } from '../statement.js';
import { ACCOUNT_COLUMNS, accountFrom } from './accounts.js';

export const walkAuditedAccounts: Statement<AuditedAccount> = {
  name: 'walk_audited_accounts',
  text: `select ${ACCOUNT_COLUMNS}, (select count(*) from holdfast.postings p where p.account = a.account)
    from holdfast.accounts a where a.partition = $1::int`,
  read: (row) => ({ account: accountFrom(row), trailRows: row.int(12) }),
};

const trailAt: Statement<TrailRow> = {
  name: 'read_trail_rows_at',
  text: `select p.account, p.position, p.partition, p.available, p.held, p.used, p.funded
    from unnest($1::text[], $2::bigint[]) as k(account, position)
    join holdfast.postings p on p.account = k.account and p.position = k.position`,
  read: (row) => ({
    account: row.text(0),
    position: row.int(1),
    partition: row.int(2),
    after: { available: row.bigint(3), held: row.bigint(4), used: row.bigint(5), funded: row.bigint(6) },
  }),
};

/** Given steps of accounts' trails; absent where there is none. */
export const readTrailAt = (keys: readonly { readonly account: string; readonly position: number }[]): Call<TrailRow> =>
  call(trailAt, textArray(keys.map((k) => k.account)), int8Array(keys.map((k) => k.position)));

/** Fundings bear no partition: their tenants live in one, whole. */
export const readRowCounts: Statement<{ readonly reservations: number; readonly fundings: number }> = {
  name: 'read_row_counts',
  text: `select
      (select count(*) from holdfast.reservations r where r.partition = $1::int and r.state = 'open')
        + (select count(*) from holdfast.reservations r where r.partition = $1::int and r.state <> 'open'),
      (select count(*) from (select distinct a.tenant from holdfast.accounts a where a.partition = $1::int) t
        cross join lateral (select from holdfast.fundings f where f.tenant = t.tenant offset 0) f)`,
  read: (row) => ({ reservations: row.int(0), fundings: row.int(1) }),
};

export const AUDIT_STATEMENTS: readonly Statement<unknown>[] = [walkAuditedAccounts, trailAt, readRowCounts];
