import type { UnitTotal } from '../../core/ports.js';
import type { Account } from '../../core/state.js';
import { boolArray, int4Array, int8Array, textArray } from '../binary.js';
import type { BinaryParameter } from '../binary.js';
import { decodeMetadata, encodeMetadata } from '../json.js';
import type { Row } from '../row.js';
import { call, command } from '../statement.js';
import type { Call, Statement } from '../statement.js';

/** The columns that `accountFrom` reads, of a table called `a`. */
export const ACCOUNT_COLUMNS = `a.account, a.tenant, a.unit, a.scale, a.overdraft_limit, a.exempt,
  a.available, a.held, a.used, a.funded, a.position, a.metadata`;

/** An account from a row of ACCOUNT_COLUMNS. Raises an Error that names the column that is not as it must be. */
export const accountFrom = (row: Row): Account => {
  const metadata = row.optionalText(11);
  return {
    account: row.text(0),
    tenant: row.text(1),
    unit: row.text(2),
    scale: row.int(3),
    overdraftLimit: row.bigint(4),
    exempt: row.bool(5),
    available: row.bigint(6),
    held: row.bigint(7),
    used: row.bigint(8),
    funded: row.bigint(9),
    position: row.int(10),
    ...(metadata === undefined ? {} : { metadata: decodeMetadata(metadata) }),
  };
};

/** Accounts by name, and the accounts of given reservations (tenants, ids), which a finalize need not name. An account may come twice. */
export const readAccounts: Statement<Account> = {
  name: 'read_accounts',
  text: `select ${ACCOUNT_COLUMNS} from holdfast.accounts a where a.account = any($1::text[])
    union all
    select ${ACCOUNT_COLUMNS} from unnest($2::text[], $3::text[]) as k(tenant, id)
      join holdfast.reservations r on r.tenant = k.tenant and r.id = k.id
      cross join lateral unnest(r.accounts) as n(account)
      join holdfast.accounts a on a.account = n.account`,
  read: accountFrom,
};

export const sumAccounts: Statement<UnitTotal> = {
  name: 'sum_accounts',
  text: `select unit, sum(available)::text, sum(held)::text from holdfast.accounts
    where partition = $1::int group by unit`,
  read: (row) => ({ unit: row.text(0), available: BigInt(row.text(1)), held: BigInt(row.text(2)) }),
};

const openAccounts = command(
  'insert_accounts',
  `insert into holdfast.accounts (account, tenant, unit, partition, scale, overdraft_limit, exempt,
      available, held, used, funded, position, metadata)
    select * from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::bigint[], $7::bool[],
      $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::text[])`,
);

/** Writes accounts that were opened, with the buckets that the group left them with. */
export const insertAccounts = (rows: readonly (Account & { readonly partition: number })[]): Call<never> =>
  call(
    openAccounts,
    textArray(rows.map((a) => a.account)),
    textArray(rows.map((a) => a.tenant)),
    textArray(rows.map((a) => a.unit)),
    int4Array(rows.map((a) => a.partition)),
    int4Array(rows.map((a) => a.scale)),
    int8Array(rows.map((a) => a.overdraftLimit)),
    boolArray(rows.map((a) => a.exempt)),
    ...bucketArrays(rows),
    textArray(rows.map((a) => encodeMetadata(a.metadata))),
  );

const changeAccounts = command(
  'update_accounts',
  `update holdfast.accounts a
    set available = n.available, held = n.held, used = n.used, funded = n.funded, position = n.position
    from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
      as n(account, available, held, used, funded, position)
    where a.account = n.account`,
);

/** Writes the buckets and positions of accounts that exist; nothing else of an account ever changes. */
export const updateAccounts = (rows: readonly Account[]): Call<never> =>
  call(changeAccounts, textArray(rows.map((a) => a.account)), ...bucketArrays(rows));

const bucketArrays = (rows: readonly Account[]): BinaryParameter[] => [
  int8Array(rows.map((a) => a.available)),
  int8Array(rows.map((a) => a.held)),
  int8Array(rows.map((a) => a.used)),
  int8Array(rows.map((a) => a.funded)),
  int8Array(rows.map((a) => a.position)),
];

export const ACCOUNT_STATEMENTS: readonly Statement<unknown>[] = [
  sumAccounts,
  readAccounts,
  openAccounts,
  changeAccounts,
];
