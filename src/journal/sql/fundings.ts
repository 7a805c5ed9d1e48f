import type { Funding } from '../../core/state.js';
import { int8Array, textArray } from '../binary.js';
import type { Row } from '../row.js';
import { call, command } from '../statement.js';
import type { Call, Statement } from '../statement.js';

const KINDS: readonly Funding['kind'][] = ['recharge', 'adjust'];

const COLUMNS = 'f.tenant, f.kind, f.id, f.account, f.amount, f.reference, f.reason, f.position';

const fundingFrom = (row: Row): Funding => {
  const reference = row.optionalText(5);
  const reason = row.optionalText(6);
  return {
    tenant: row.text(0),
    kind: row.oneOf(1, KINDS),
    id: row.text(2),
    account: row.text(3),
    amount: row.bigint(4),
    ...(reference === undefined ? {} : { reference }),
    ...(reason === undefined ? {} : { reason: reasonFrom(reason) }),
    position: row.int(7),
  };
};

const reasonFrom = (text: string): string => {
  const reason: unknown = JSON.parse(text);
  if (typeof reason !== 'string') throw new Error('A stored reason is not a JSON string.');
  return reason;
};

/** Fundings by (tenants, kinds, ids). */
export const readFundings: Statement<Funding> = {
  name: 'read_fundings',
  text: `select ${COLUMNS} from unnest($1::text[], $2::text[], $3::text[]) as k(tenant, kind, id)
    join holdfast.fundings f on f.tenant = k.tenant and f.kind = k.kind and f.id = k.id`,
  read: fundingFrom,
};

/** Recharges by (tenants, payment references). The limit says that each has one, and keeps it a look-up on a small table too. */
export const readReferences: Statement<Funding> = {
  name: 'read_references',
  text: `select ${COLUMNS} from unnest($1::text[], $2::text[]) as k(tenant, reference)
    cross join lateral (
      select * from holdfast.fundings r
      where r.kind = 'recharge' and r.tenant = k.tenant and r.reference = k.reference limit 1
    ) f`,
  read: fundingFrom,
};

const addFundings = command(
  'insert_fundings',
  `insert into holdfast.fundings (tenant, kind, id, account, amount, reference, reason, position)
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::bigint[])`,
);

/** Writes recharges and adjustments that were made. */
export const insertFundings = (rows: readonly Funding[]): Call<never> =>
  call(
    addFundings,
    textArray(rows.map((f) => f.tenant)),
    textArray(rows.map((f) => f.kind)),
    textArray(rows.map((f) => f.id)),
    textArray(rows.map((f) => f.account)),
    int8Array(rows.map((f) => f.amount)),
    textArray(rows.map((f) => f.reference)),
    textArray(rows.map((f) => (f.reason === undefined ? undefined : JSON.stringify(f.reason)))),
    int8Array(rows.map((f) => f.position)),
  );

export const FUNDING_STATEMENTS: readonly Statement<unknown>[] = [readFundings, readReferences, addFundings];
