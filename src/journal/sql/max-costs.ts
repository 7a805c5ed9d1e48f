import type { MaxCost } from '../../core/state.js';
import { int4Array, int8Array, textArray } from '../binary.js';
import type { Row } from '../row.js';
import { call, command } from '../statement.js';
import type { Call, Statement } from '../statement.js';

const COLUMNS = 'm.model, m.unit, m.amount, m.revision, m.pending';

const maxCostFrom = (row: Row): MaxCost => {
  const pending = row.optionalBigint(4);
  return {
    model: row.text(0),
    unit: row.text(1),
    amount: row.bigint(2),
    revision: row.int(3),
    ...(pending === undefined ? {} : { pending }),
  };
};

/** max_costs of models by name, and of the models of given reservations (tenants, ids). One may come twice. */
export const readMaxCosts: Statement<MaxCost> = {
  name: 'read_max_costs',
  text: `select ${COLUMNS} from holdfast.max_costs m where m.model = any($1::text[]) and m.revision > 0
    union all
    select ${COLUMNS} from unnest($2::text[], $3::text[]) as k(tenant, id)
      join holdfast.reservations r on r.tenant = k.tenant and r.id = k.id
      join holdfast.max_costs m on m.model = r.model and m.revision > 0`,
  read: maxCostFrom,
};

/** Every max_cost there is, by model and unit. */
export const readAllMaxCosts: Statement<MaxCost> = {
  name: 'read_all_max_costs',
  text: `select ${COLUMNS} from holdfast.max_costs m where m.revision > 0 order by m.model, m.unit`,
  read: maxCostFrom,
};

/** Makes the rows that are to be locked, in sorted order: two that make the same ones wait for each other, not in a circle. */
const prepareMaxCosts = command(
  'prepare_max_costs',
  `insert into holdfast.max_costs (model, unit)
    select * from unnest($1::text[], $2::text[]) on conflict do nothing`,
);

/** Locks (models, units), in sorted order. */
const lockRows: Statement<true> = {
  name: 'lock_max_costs',
  text: `select true from unnest($1::text[], $2::text[]) with ordinality as k(model, unit, n)
    join holdfast.max_costs m on m.model = k.model and m.unit = k.unit order by k.n for update of m`,
  read: () => true,
};

export interface ModelUnit {
  readonly model: string;
  readonly unit: string;
}

/** Locks the max_cost of these models and units, known or not. What they are must be read afterwards. */
export const lockMaxCosts = (keys: readonly ModelUnit[]): readonly [Call<never>, Call<true>] => {
  const sorted = [...keys].sort((a, b) => compare(a.model, b.model) || compare(a.unit, b.unit));
  const models = textArray(sorted.map((k) => k.model));
  const units = textArray(sorted.map((k) => k.unit));
  return [call(prepareMaxCosts, models, units), call(lockRows, models, units)];
};

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const changeMaxCosts = command(
  'update_max_costs',
  `update holdfast.max_costs m set amount = n.amount, revision = n.revision, pending = n.pending
    from unnest($1::text[], $2::text[], $3::bigint[], $4::int[], $5::bigint[])
      as n(model, unit, amount, revision, pending)
    where m.model = n.model and m.unit = n.unit`,
);

/** Writes max_costs whose rows `lockMaxCosts` has made and locked. */
export const updateMaxCosts = (rows: readonly MaxCost[]): Call<never> =>
  call(
    changeMaxCosts,
    textArray(rows.map((m) => m.model)),
    textArray(rows.map((m) => m.unit)),
    int8Array(rows.map((m) => m.amount)),
    int4Array(rows.map((m) => m.revision)),
    int8Array(rows.map((m) => m.pending)),
  );

export const MAX_COST_STATEMENTS: readonly Statement<unknown>[] = [
  readMaxCosts,
  readAllMaxCosts,
  prepareMaxCosts,
  lockRows,
  changeMaxCosts,
];
