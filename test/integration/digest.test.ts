import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestHoldfast } from '../../src/compose/digest.js';
import type { DigestSource } from '../../src/compose/digest.js';
import { allPartitions, partitionOf } from '../../src/core/partition.js';
import { digestLedger } from '../../src/recovery/digest.js';
import type { PartitionDigest } from '../../src/recovery/digest.js';
import { LedgerUnderFault, dropLedger, granted, newLedgerConfig, sharedServices, until } from '../faults/ledger-under-fault.js'; // prettier-ignore

/*
 * One hash says whether two copies of a ledger have the same balances and the same open holds. It is the same from rows, from
 * events, from the topic and from Redis, and another hand gets it from the rows too.
 */

let ledger: LedgerUnderFault;
let sql: pg.Pool;
const TENANTS = ['acme', 'bolt', 'crux', 'dune', 'echo', 'flux'];

/** Six tenants with a wallet and a token quota, open holds over both, closed ones, a late one, and an exempt debtor. */
const someHistory = async (): Promise<void> => {
  for (const tenant of TENANTS) {
    await ledger.openAccount(tenant, 1_000_000n);
    granted(
      await ledger.holdfast.ledger.openAccount({ account: `${tenant}/tokens`, unit: 'TOK', overdraftLimit: 500n }),
    );
    for (let n = 0; n < 12; n += 1) {
      const amounts = new Map([
        ['USD', BigInt(100 + n)],
        ['TOK', BigInt(n)],
      ]);
      const accounts = [tenant, `${tenant}/tokens`];
      granted(
        await ledger.holdfast.ledger.reserve({ tenant, id: `r:${n}`, accounts, amount: { kind: 'by_unit', amounts } }),
      );
      if (n % 3 === 0) granted(await ledger.holdfast.ledger.refund({ tenant, id: `r:${n}`, reason: 'failed' }));
      if (n % 3 === 1)
        granted(await ledger.holdfast.ledger.finalize({ tenant, id: `r:${n}`, amount: { kind: 'by_unit', amounts } }));
    }
    granted(await ledger.reserve(tenant, 'open', 77n));
    granted(await ledger.holdfast.ledger.extend({ tenant, id: 'open', ttlSeconds: 1200 }));
  }
};

beforeAll(async () => {
  ledger = await LedgerUnderFault.open(await newLedgerConfig(sharedServices()));
  sql = new pg.Pool({ connectionString: ledger.config.postgres.url, max: 2 });
  await ledger.redisReady();
  await someHistory();
  await caughtUp();
});
afterAll(async () => {
  await sql.end();
  await ledger.close();
  await dropLedger(sharedServices(), ledger.config);
});

const partitions = (): number[] => allPartitions(ledger.holdfast.identity.partitions);

/** Waits until Redis and Kafka have what Postgres has. */
const caughtUp = async (): Promise<void> => {
  await until('Redis has applied the log', async () => {
    const info = await ledger.holdfast.redis.readiness.info(partitions());
    const heads = await ledger.holdfast.reading.reader.heads();
    return heads.every(({ partition, position }) => info.get(partition)?.checkpoint?.position === position);
  });
  expect((await ledger.verify()).kafka).toBe(0);
};

const digests = async (
  from: DigestSource,
  more: { readonly partitions?: readonly number[]; readonly at?: number; readonly account?: string } = {},
) => digestHoldfast(ledger.holdfast, { from, partitions: partitions(), ...more, onPartition: () => undefined });

const one = async (from: DigestSource, partition: number, at?: number): Promise<PartitionDigest> => {
  const { partitions: all } = await digests(from, { partitions: [partition], ...(at === undefined ? {} : { at }) });
  const [only] = all;
  if (only === undefined) throw new Error('A partition was asked for.');
  return only;
};

/** The partition's rows as digest.py reads them. */
const rowsOf = async (partition: number): Promise<object> => {
  const heads = await sql.query<{ position: string; hash: string }>(
    `select position::text, encode(hash, 'hex') as hash from holdfast.heads where partition = $1`,
    [partition],
  );
  const accounts = await sql.query<object>(
    `select account, unit, available::text, held::text, used::text, funded::text from holdfast.accounts where partition = $1`,
    [partition],
  );
  const reservations = await sql.query<object>(
    `select id, accounts, units, body::jsonb -> 'held' as held from holdfast.reservations where partition = $1 and state = 'open'`,
    [partition],
  );
  return { head: { partition, ...heads.rows[0] }, accounts: accounts.rows, reservations: reservations.rows };
};

describe('one digest', () => {
  test('is the same from Postgres, from Kafka and from Redis, for every partition and the whole', async () => {
    const [postgres, kafka, redis] = await Promise.all([digests('postgres'), digests('kafka'), digests('redis')]);
    expect(kafka.partitions).toEqual(postgres.partitions);
    expect(redis.partitions.map(({ digest, position }) => [position, digest])).toEqual(
      postgres.partitions.map(({ digest, position }) => [position, digest]),
    );
    expect(postgres.digest).toBe(digestLedger(postgres.partitions));
    expect(redis.digest).toBe(postgres.digest);
    expect(postgres.partitions.reduce((sum, { openHolds }) => sum + openHolds, 0)).toBe(TENANTS.length * 5);
  });

  test('sees through a speculation: what is held in Redis and not committed is no part of it', async () => {
    const partition = partitionOf('acme', partitions().length);
    const before = await one('redis', partition);
    await ledger.holdfast.redis.holds.hold(partition, {
      kind: 'reserve',
      tenant: 'acme',
      id: 'speculation',
      accounts: ['acme'],
      requested: { kind: 'sole', amount: 9n },
      policy: 'caller',
      ttlSeconds: 60,
      level: 'durable',
    });
    expect(await ledger.speculations()).toBe(1);
    expect((await one('redis', partition)).digest).toBe(before.digest);
    expect((await one('postgres', partition)).digest).toBe(before.digest);
  });

  test('of an earlier position is the same from the events in Postgres and those on Kafka, and from the rows as they were then', async () => {
    const partition = partitionOf('bolt', partitions().length);
    const { position } = await one('postgres', partition);
    for (const at of [0, 1, Math.floor(position / 2), position - 1])
      expect(await one('kafka', partition, at)).toEqual(await one('postgres', partition, at));
    const before = await one('postgres', partition);
    await ledger.recharge('bolt', 'later', 5n);
    await caughtUp();
    expect((await one('postgres', partition)).digest).not.toBe(before.digest);
    expect(await one('postgres', partition, position)).toEqual(before);
  });

  test('changes with one micro-unit of one bucket, and is what it was when that is undone', async () => {
    const partition = partitionOf('crux', partitions().length);
    const before = await one('redis', partition);
    const key = `{${ledger.keyPrefix}:${partition}}`;
    const { Redis } = await import('ioredis');
    const direct = new Redis(ledger.config.redis.url);
    const info = await direct.hget(`${key}:a:crux`, 'us');
    await direct.hincrby(`${key}:a:crux`, 'us', 1);
    const changed = await one('redis', partition);
    await direct.hset(`${key}:a:crux`, 'us', info ?? '0');
    direct.disconnect();
    expect(changed.digest).not.toBe(before.digest);
    await until('the digest is what it was', async () => (await one('redis', partition)).digest === before.digest);
  });

  test('a position that the source does not have is refused in words', async () => {
    await expect(one('kafka', 0, 1_000_000)).rejects.toMatchObject({ code: 'position_not_reached' });
    await expect(one('postgres', 0, 1_000_000)).rejects.toMatchObject({ code: 'position_not_reached' });
    await expect(one('redis', 0, 1_000_000)).rejects.toMatchObject({ code: 'position_not_kept' });
  });
});

const hasPython = spawnSync('python3', ['--version']).status === 0;

// Skipped where there is no python3: the digests of three services are compared above.
describe.skipIf(!hasPython)('a script in Python that knows only docs/EVENTS.md and the tables', () => {
  test('gets the same digest of every partition and account from the rows', async () => {
    const script = fileURLToPath(new URL('digest.py', import.meta.url));
    for (const partition of partitions()) {
      const { stdout } = spawnSync('python3', [script], {
        input: JSON.stringify(await rowsOf(partition)),
        encoding: 'utf8',
      });
      const [whole, ...accounts] = stdout.trimEnd().split('\n');
      expect(whole).toBe((await one('postgres', partition)).digest);
      for (const line of accounts) {
        const [account = '', digest] = line.split(' ');
        const found = await digests('redis', { partitions: [partition], account });
        expect(found.partitions[0]?.account?.digest).toBe(digest);
      }
    }
  });
});
