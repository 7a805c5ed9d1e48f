import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BalancesProjection } from '../../projections/balances.js';
import { addPosting, EMPTY_BUCKETS } from '../../events/index.js';
import type { Buckets as Sums } from '../../events/index.js';
import { partitionOf } from '../../src/core/partition.js';
import { RebuildLostError } from '../../src/core/ports.js';
import { LedgerUnderTest, NO_DRIFT, atOnce, until } from './harness.js';
import type { Buckets } from './harness.js';
import { positionsOnKafka } from './topic.js';

/* The log itself: its order, its chain, and that balances are nothing but its sum. */

let ledger: LedgerUnderTest;
beforeAll(async () => {
  ledger = await LedgerUnderTest.start();
});
afterAll(() => ledger.stop());

/** A tenant of a certain partition. */
const tenantIn = (partition: number, name: string): string => {
  for (let n = 0; ; n += 1)
    if (partitionOf(`${name}${n}`, ledger.partitions.length) === partition) return `${name}${n}`;
};

const textOf = ({ available, held, used, funded }: Sums): Buckets => ({
  available: available.toString(),
  held: held.toString(),
  used: used.toString(),
  funded: funded.toString(),
});

/** What the log adds up to for an account. */
const folded = async (account: string): Promise<Buckets> => {
  const postings = (await ledger.events(account)).flatMap(({ data }) => data.postings);
  return textOf(postings.filter((posting) => posting.account === account).reduce(addPosting, EMPTY_BUCKETS));
};

describe('12. two transactions append at once', () => {
  const GATE = 2012;

  test('and the later would be ready first: the relay sends both, in order', async () => {
    const [slow, fast, elsewhere] = [tenantIn(1, 'slow'), tenantIn(1, 'fast'), tenantIn(2, 'elsewhere')];
    for (const tenant of [slow, fast, elsewhere]) await ledger.open(tenant, '100');
    const before = (await ledger.holdfast.reading.reader.heads([1]))[0]?.position ?? 0;
    // The first transaction waits, with its event inserted and its commit still to come, until the gate opens.
    await ledger.sql.query(`
      create function holdfast.wait_at_gate() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock_shared(${GATE}); return new; end $$;
      create trigger gate after insert on holdfast.events for each row
        when (new.body like '%"reservation_id":"held-up"%') execute function holdfast.wait_at_gate()`);
    const gate = await ledger.sql.connect();
    await gate.query(`select pg_advisory_lock(${GATE})`);
    const first = ledger.reserve(slow, { id: 'held-up', amount: '1' });
    await until('the first transaction waits at the gate', async () => {
      const { rows } = await gate.query(
        `select 1 from pg_locks where locktype = 'advisory' and objid = ${GATE} and not granted`,
      );
      return rows.length === 1;
    });
    // The later ones: of the same partition, which must come behind, and of another, which need not.
    const later = ledger.reserve(fast, { id: 'r1', amount: '1' });
    expect((await ledger.reserve(elsewhere, { id: 'r1', amount: '1' })).status).toBe(201);
    expect((await ledger.holdfast.reading.reader.heads([1]))[0]?.position).toBe(before);
    await gate.query(`select pg_advisory_unlock(${GATE})`);
    gate.release();
    expect((await first).body['position']).toBe(before + 1);
    expect((await later).body['position']).toBe(before + 2);
    await ledger.sql.query('drop trigger gate on holdfast.events; drop function holdfast.wait_at_gate');
    await until('both are on Kafka', async () => (await positionsOnKafka(ledger, 1)).length >= before + 2);
    expect(await positionsOnKafka(ledger, 1)).toEqual(Array.from({ length: before + 2 }, (_, n) => n + 1));
  });
});

describe('13. a replay onto a warm Redis', () => {
  /** The server's own keeper may find the partition fenced and take the rebuild over: then it is begun again. */
  const replay = (partition: number): Promise<void> =>
    until(`partition ${partition} was replayed`, async () => {
      try {
        await ledger.holdfast.rebuild(partition, { replay: true });
        return true;
      } catch (error) {
        if (error instanceof RebuildLostError) return false;
        throw error;
      }
    });

  test('twice leaves every balance equal to the fold', async () => {
    const tenants = ['warm-a', 'warm-b', 'warm-c'];
    for (const tenant of tenants) {
      await ledger.open(tenant, '1000');
      await atOnce(10, (n) => ledger.reserve(tenant, { id: `r${n}`, amount: '50' }));
      await atOnce(5, (n) => ledger.onReservation('finalize', tenant, `r${n}`, { amount: `${n * 13}` }));
      await ledger.onReservation('refund', tenant, 'r9', { reason: 'failed' });
    }
    const check = async (): Promise<void> => {
      for (const tenant of tenants) expect(await ledger.balanceInRedis(tenant)).toEqual(await folded(tenant));
    };
    await check();
    for (const partition of [...ledger.partitions, ...ledger.partitions]) await replay(partition);
    await ledger.guarded();
    await check();
  });

  test('of all events by a projector that has seen none of them: each is skipped', async () => {
    const { redis, reading, identity } = ledger.holdfast;
    const fault = (...what: unknown[]): never => {
      throw new Error(what.join(' '));
    };
    const projection = new BalancesProjection({
      store: redis.balances,
      reader: reading.reader,
      incarnation: () => identity.incarnation,
      onStuck: fault,
      onError: fault,
    });
    for (const partition of [...ledger.partitions, ...ledger.partitions])
      await projection.take(partition, await ledger.holdfast.readEvents(partition, 0, 1000));
    await projection.stop();
    expect(await ledger.balanceInRedis('warm-a')).toEqual(await folded('warm-a'));
    expect(await ledger.holdfast.verify(() => undefined)).toMatchObject(NO_DRIFT);
  });
});

test('14. SCRIPT FLUSH between 100 reserves: no error', async () => {
  await ledger.open('flushed', '100');
  for (let n = 0; n < 100; n += 1) {
    const [answer] = await Promise.all([
      ledger.reserve('flushed', { id: `r${n}`, amount: '1' }),
      ledger.redis.script('FLUSH'),
    ]);
    expect(answer.status).toBe(201);
  }
  expect((await ledger.reserve('flushed', { id: 'r100', amount: '1' })).status).toBe(429);
  expect(await ledger.balanceInRedis('flushed')).toMatchObject({ available: '0', held: '100' });
}, 90_000);

describe('15. 16 writers × 50 events', () => {
  test('the chain verifies', async () => {
    await atOnce(16, async (writer) => {
      const tenant = `writer-${writer}`;
      await ledger.open(tenant, '1000');
      for (let n = 0; n < 24; n += 1) {
        await ledger.reserve(tenant, { id: `r${n}`, amount: '5' });
        await ledger.onReservation('finalize', tenant, `r${n}`, { amount: '3' });
      }
      expect(await ledger.events(tenant)).toHaveLength(50);
      expect(await ledger.balance(tenant)).toMatchObject({ available: '928', used: '72' });
    });
    const report = await ledger.holdfast.verify(() => undefined);
    expect(report).toMatchObject(NO_DRIFT);
    expect(report.events).toBeGreaterThanOrEqual(800);
  }, 90_000);

  test('one flipped byte: verify names the position', async () => {
    const partition = ledger.partitionOf('writer-3');
    const position = (await ledger.events('writer-3'))[10]?.position;
    // Only the owner of the table can, and only with its guards off.
    await ledger.sql.query(`
      alter table holdfast.events disable trigger user;
      update holdfast.events set body = replace(body, '"unit":"USD"', '"unit":"USE"')
        where partition = ${partition} and position = ${position ?? 0};
      alter table holdfast.events enable always trigger events_append_only`);
    const report = await ledger.holdfast.verify(() => undefined);
    expect(report.postgres).toBeGreaterThan(0);
    expect(report.findings).toContainEqual(expect.objectContaining({ where: 'postgres', partition, position }));
    expect(
      report.findings.every((finding) => finding.where !== 'postgres' || (finding.position ?? 0) >= (position ?? 0)),
    ).toBe(true);
  });
});
