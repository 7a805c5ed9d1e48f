import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { initialState } from '../../src/core/state.js';
import { evolve } from '../../src/core/evolve.js';
import { AMOUNT_MAX, SYSTEM_TENANT } from '../../events/index.js';
import { benches, done, finalize, funded, open, recharge, refusal, reserve } from './journal-setting.js';
import type { Bench } from './journal-setting.js';

const databases = benches();
let b: Bench;

beforeEach(async () => {
  b = await databases.bench();
});
afterEach(() => b.close());
afterAll(() => databases.remove());

/** The whole log, folded. */
const folded = async () => {
  const state = initialState();
  for (let partition = 0; partition < b.ledger.partitions; partition++)
    for (const { event } of await b.reading.reader.read(partition, 0, 10_000)) evolve(state, event);
  return state;
};

test('what is stored is what the log folds to: accounts, reservations, fundings, max_costs', async () => {
  const journal = b.journal();
  const tenants = ['acme', 'globex', 'initech'];
  await Promise.all(tenants.map((tenant) => funded(journal, tenant, 1_000_000n)));
  await journal.append(
    open('acme', { account: 'acme/tokens', unit: 'TOK', scale: 0, exempt: true, metadata: { a: 1 } }),
  );
  const metadata = { nul: 'a\u0000b', half: '\ud800', quote: '"\\{},' };
  await Promise.all(
    tenants.flatMap((tenant) => [
      journal.append(reserve(tenant, 'r1', 500n, { model: 'gpt', metadata })),
      journal.append(finalize(tenant, 'r1', 700n)),
      journal.append(reserve(tenant, 'r2', 900n)),
      journal.append({ kind: 'refund', tenant, id: 'r2', reason: 'cancelled' }),
      journal.append(reserve(tenant, 'NULL', 10n)),
      journal.append({ kind: 'extend', tenant, id: 'NULL', ttlSeconds: 3_000 }),
      journal.append(finalize(tenant, 'cold', 44n, { accounts: [tenant], model: 'gpt' })),
      journal.append({ kind: 'adjust', tenant, account: tenant, id: 'a1', amount: -5n, reason: 'wrong \u0000 entry' }),
      journal.append(recharge(tenant, 'again', 5n, 'invoice-1')),
    ]),
  );
  await journal.append({
    kind: 'set_max_cost',
    tenant: SYSTEM_TENANT,
    model: 'gpt',
    amounts: new Map([['USD', 800n]]),
  });
  const multi = {
    accounts: ['acme', 'acme/tokens'],
    requested: {
      kind: 'by_unit',
      amounts: new Map([
        ['USD', 7n],
        ['TOK', 9n],
      ]),
    },
  } as const;
  await journal.append(reserve('acme', 'multi', 0n, multi));

  const state = await folded();
  expect(state.accounts.size).toBe(4);
  for (const account of state.accounts.values())
    expect(await b.reading.reader.account(account.account)).toEqual(account);
  expect(state.reservations.size).toBe(13);
  for (const reservation of state.reservations.values())
    expect(await b.reading.reader.reservation(reservation.tenant, reservation.id)).toEqual(reservation);
  expect(state.fundings.size).toBe(9);
  for (const funding of state.fundings.values())
    expect(await b.reading.reader.funding(funding.tenant, funding.kind, funding.id)).toEqual(funding);
  expect(await b.reading.reader.maxCosts()).toEqual([...state.maxCosts.values()]);
  expect(b.faults).toEqual([]);
});

test('100 available, 50 parallel reserves of 60: one is granted', async () => {
  const journal = b.journal();
  await funded(journal, 'acme', 100n);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => journal.append(reserve('acme', `r${n.toString()}`, 60n))),
  );
  expect(answers.map(refusal).filter((code) => code === 'accepted')).toHaveLength(1);
  expect(answers.map(refusal).filter((code) => code === 'insufficient_quota')).toHaveLength(49);
  expect(await b.reading.reader.account('acme')).toMatchObject({ available: 40n, held: 60n });
});

test('a refusal or a replay writes nothing, not even the head', async () => {
  const journal = b.journal();
  await funded(journal, 'acme', 100n);
  const first = done(await journal.append(reserve('acme', 'r', 60n)));
  const heads = await b.sql('select xmin::text, * from holdfast.heads order by partition');
  expect(refusal(await journal.append(reserve('acme', 's', 60n)))).toBe('insufficient_quota');
  expect(refusal(await journal.append(reserve('nobody', 's', 60n)))).toBe('account_not_found');
  const again = done(await journal.append(reserve('acme', 'r', 60n)));
  expect(again).toEqual({ ...first, replay: true });
  expect(await b.sql('select xmin::text, * from holdfast.heads order by partition')).toEqual(heads);
});

test('ids count once: recharges by id and by payment reference, reservations in their tenant', async () => {
  const journal = b.journal();
  await funded(journal, 'acme', 100n);
  await funded(journal, 'globex', 100n);
  const [, twice, other] = await Promise.all([
    journal.append(recharge('acme', 'p1', 7n, 'invoice')),
    journal.append(recharge('acme', 'p1', 7n, 'invoice')),
    journal.append(recharge('acme', 'p2', 7n, 'invoice')),
  ]);
  expect(done(twice).replay).toBe(true);
  expect(done(other).replay).toBe(true);
  expect(refusal(await journal.append(recharge('acme', 'p1', 8n, 'invoice')))).toBe('id_reused');
  await journal.append(reserve('acme', 'same', 1n));
  expect(done(await journal.append(reserve('globex', 'same', 2n))).replay).toBe(false);
  expect(await b.reading.reader.account('acme')).toMatchObject({ available: 106n, held: 1n });
});

test('amounts up to 2^63-1 are exact, and a sum beyond is refused and changes nothing', async () => {
  const journal = b.journal();
  await funded(journal, 'acme', AMOUNT_MAX);
  expect(refusal(await journal.append(recharge('acme', 'more', 1n)))).toBe('amount_overflow');
  done(await journal.append(reserve('acme', 'r', AMOUNT_MAX - 2n)));
  expect(await b.reading.reader.account('acme')).toMatchObject({
    available: 2n,
    held: AMOUNT_MAX - 2n,
    funded: -AMOUNT_MAX,
  });
});

test('a max_cost raised by many partitions at once ends at the highest, its revisions without a gap', async () => {
  const journal = b.journal({ lanes: 4 });
  const other = b.journal({ lanes: 4 });
  const tenants = Array.from({ length: 16 }, (_, n) => `t${n.toString()}`);
  await Promise.all(tenants.map((tenant) => funded(journal, tenant, 1_000_000n)));
  await Promise.all(
    tenants.map((tenant, n) =>
      (n % 2 === 0 ? journal : other).append(
        finalize(tenant, 'cold', 100n + BigInt(n), { accounts: [tenant], model: 'gpt' }),
      ),
    ),
  );
  const [maxCost] = await b.reading.reader.maxCosts(['gpt']);
  expect(maxCost?.amount).toBe(115n);
  const raises = await b.sql(
    `select (data->>'revision')::int as revision from holdfast.event_log where event = 'maxcostraised' order by 1`,
  );
  expect(raises.map((row) => row['revision'])).toEqual(raises.map((_, index) => index + 1));
  expect(maxCost?.revision).toBe(raises.length);
  expect(b.faults).toEqual([]);
});

test('expiry is looked at again under the lock, and happens once', async () => {
  const journal = b.journal();
  await funded(journal, 'acme', 1_000n);
  const ids = Array.from({ length: 20 }, (_, n) => `r${n.toString()}`);
  await Promise.all(ids.map((id) => journal.append(reserve('acme', id, 10n))));
  const partitions = Array.from({ length: b.ledger.partitions }, (_, n) => n);
  const expire = (id: string) => journal.append({ kind: 'expire', tenant: 'acme', id });
  expect(await b.reading.reader.expired(partitions, 100)).toEqual([]);
  expect((await Promise.all(partitions.map((partition) => b.reading.reader.totals(partition)))).flat()).toEqual([
    { unit: 'USD', available: 800n, held: 200n },
  ]);
  expect(done(await expire('r0')).replay).toBe(true);
  await b.sql(`update holdfast.reservations set expires_at_ms = 1 where id <> 'r0'`);
  const overdue = await b.reading.reader.expired(partitions, 100);
  expect(overdue).toHaveLength(19);
  expect(await b.reading.reader.expired(partitions, 5)).toHaveLength(5);
  // Extended after the sweeper had seen it.
  done(await journal.append({ kind: 'extend', tenant: 'acme', id: 'r1', ttlSeconds: 500 }));
  await Promise.all([...overdue, ...overdue].map(({ id }) => expire(id)));
  expect(await b.reading.reader.expired(partitions, 100)).toEqual([]);
  expect(await b.reading.reader.account('acme')).toMatchObject({ available: 980n, held: 20n });
  const refunds = await b.sql(`select data->>'reason' as reason from holdfast.event_log where event = 'refunded'`);
  expect(refunds).toEqual(Array.from({ length: 18 }, () => ({ reason: 'expired' })));
});
