import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyWith } from '../../src/compose/verify.js';
import { LedgerUnderFault, dropLedger, newLedgerConfig, sharedServices } from '../faults/ledger-under-fault.js';
import { LedgerAtRest, verifyAtRest, writeHistory } from './verify-setting.js';

/* Deep: every row of the state is what the events make of it, and every record in Redis what the journal says. */

let ledger: LedgerAtRest;
beforeAll(async () => {
  ledger = await LedgerAtRest.make();
});
afterAll(() => ledger.drop());

const found = (where: string, what: RegExp, more: object = {}): unknown =>
  expect.objectContaining({ where, partition: ledger.partition, what: expect.stringMatching(what) as string, ...more });

describe('a row of the state that is not what the events make of it', () => {
  const cases: readonly (readonly [what: string, sql: string, words: RegExp, more: object])[] = [
    ['what an account is allowed', `update holdfast.accounts set overdraft_limit = 999 where account = 'acme/tokens'`, /differ in overdraftLimit/, { account: 'acme/tokens' }], // prettier-ignore
    ['the cost of a reservation that is closed', `update holdfast.reservations set body = replace(body, '"amount":"21"', '"amount":"20"') where id = 'acme-0'`, /^reservation acme\/acme-0: its row and its events differ in cost/, {}], // prettier-ignore
    ['when an open one expires', `update holdfast.reservations set expires_at_ms = expires_at_ms + 1 where id = 'acme-2'`, /^reservation acme\/acme-2: .* expiresAtMs$/, {}], // prettier-ignore
    ['an event that a reservation does not list', `update holdfast.reservations set positions = positions[1:1] where id = 'acme-0'`, /^reservation acme\/acme-0: its row does not list this event$/, {}], // prettier-ignore
    ['a closed reservation without a row', `delete from holdfast.reservations where id = 'acme-1'`, /^reservation acme\/acme-1 has events and no row$/, {}], // prettier-ignore
    ['a reservation without events', `insert into holdfast.reservations select tenant, 'made-up', partition, state, opened, accounts, units, model, expires_at_ms, position, closed_position, closed_at_ms, positions, body from holdfast.reservations where id = 'acme-1'`, /reservations have a row, \d+ have events$/, {}], // prettier-ignore
    ['the amount of a recharge', `update holdfast.fundings set amount = amount + 1 where kind = 'recharge'`, /^recharge first-acme: its row and its event differ in amount$/, { account: 'acme', position: 2 }], // prettier-ignore
    ['an adjustment without a row', `delete from holdfast.fundings where kind = 'adjust'`, /^adjust a1 has an event and no row$/, { account: 'acme' }], // prettier-ignore
    ['a model’s max_cost', `update holdfast.max_costs set amount = amount + 1`, /^max_cost m1 USD, revision \d+: it is \d+, its event says \d+$/, { partition: 0 }], // prettier-ignore
    ['what waits for an operator', `update holdfast.max_costs set pending = pending + 1`, /waits, and no finalize has cost that$/, { partition: 0 }], // prettier-ignore
  ];
  test.each(cases)('%s', async (_what, sql, words, more) => {
    const config = await ledger.withDatabase(sql);
    expect((await verifyAtRest(config, true)).findings).toContainEqual(found('postgres', words, more));
  });
});

describe('in Redis', () => {
  test('a balance changed: the account, shallow too', async () => {
    await ledger.redis.hincrby(ledger.key('a:acme'), 'us', 1);
    const report = await verifyAtRest(ledger.config);
    await ledger.redis.hincrby(ledger.key('a:acme'), 'us', -1);
    expect(report.redis).toBe(1);
    expect(report.findings).toEqual([found('redis', /^Redis says .*; the journal says /, { account: 'acme' })]);
  });

  const records: readonly (readonly [what: string, change: (record: string) => string | undefined, words: RegExp])[] = [
    [
      'the amount that a record says is held',
      (r) => r.replaceAll(/USD=\d+/g, 'USD=19'),
      /acme\/acme-2 and the journal differ in .*held/,
    ],
    ['a record that cannot be read', () => 'o1|2|durable|60|m1|acme', /acme\/acme-2 can't be read$/],
    ['a record that is gone', () => undefined, /^Redis has no record of reservation acme\/acme-2, which is open$/],
  ];
  test.each(records)('%s', async (_what, change, words) => {
    const [holds, name] = [ledger.key('holds'), 'acme/acme-2'];
    const before = (await ledger.redis.hget(holds, name)) ?? '';
    const after = change(before);
    expect(after).not.toBe(before);
    if (after === undefined) await ledger.redis.hdel(holds, name);
    else await ledger.redis.hset(holds, name, after);
    const report = await verifyAtRest(ledger.config, true);
    await ledger.redis.hset(holds, name, before);
    expect(report).toMatchObject({ postgres: 0, kafka: 0, redis: 1 });
    expect(report.findings).toEqual([found('redis', words)]);
  });
});

test('beside live traffic: nothing is found, round after round, and progress says how far it is', async () => {
  const config = await newLedgerConfig(sharedServices());
  const live = await LedgerUnderFault.open(config);
  await live.redisReady();
  let over = false;
  const traffic = ['bolt', 'crux', 'dune'].map(async (tenant) => {
    await writeHistory(live, tenant);
    for (let n = 0; !over; n += 1) {
      const accounts = [tenant];
      await live.holdfast.ledger.reserve({ tenant, id: `t${n}`, accounts, amount: { kind: 'sole', amount: 2n } });
      if (n % 5 !== 0) await live.finalize(tenant, `t${n}`, 1n);
    }
  });
  const steps = new Set<string>();
  for (let round = 0; round < 4; round += 1) {
    const report = await verifyWith(live.holdfast, (step) => steps.add(step), { deep: true }); // prettier-ignore
    expect(report).toMatchObject({ postgres: 0, kafka: 0, redis: 0, findings: [] });
  }
  over = true;
  await Promise.all(traffic);
  expect(steps).toEqual(new Set(['postgres', 'kafka', 'redis']));
  await live.close();
  await dropLedger(sharedServices(), config);
});
