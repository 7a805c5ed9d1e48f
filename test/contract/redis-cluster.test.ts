import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { partitionOf } from '../../src/core/partition.js';
import type { HoldOutcome } from '../../src/core/ports.js';
import { openRedis } from '../../src/redis/index.js';
import type { RedisSide } from '../../src/redis/index.js';
import { partitionKeys, slotOf } from '../../src/redis/keys.js';
import { findProgram, pathFolders } from '../../src/stack/tools.js';
import { EpochsInMemory } from '../lua/epochs-in-memory.js';
import { funded, reserveOf, sole } from '../lua/harness.js';
import { startRedisCluster } from '../lua/redis-cluster.js';
import type { ClusterNode, RedisCluster } from '../lua/redis-cluster.js';
import { ReferenceLog } from '../model/reference-log.js';

const PARTITIONS = 16;
const program = findProgram('redis-server', pathFolders(process.env));

// Skipped without a redis-server on the PATH: a Cluster needs several of them, with settings of its own.
describe.skipIf(program === undefined)('a Cluster of three masters', () => {
  let cluster: RedisCluster;
  let side: RedisSide;
  let epochs: EpochsInMemory;
  let keyPrefix: string;
  let opened = 0;
  beforeAll(async () => {
    cluster = await startRedisCluster(program ?? '');
  });
  afterAll(() => cluster.stop());
  beforeEach(async () => {
    epochs = new EpochsInMemory();
    keyPrefix = `c${(++opened).toString()}`;
    const settings = { url: cluster.url, keyPrefix, timeoutMs: 500, recheckMs: 200 };
    side = await openRedis({ settings, partitions: PARTITIONS, epochs });
  });
  afterEach(() => side.stop());

  const tenants = Array.from({ length: 200 }, (_, i) => `t${i.toString()}`);
  const tenantIn = (partition: number): string =>
    tenants.find((tenant) => partitionOf(tenant, PARTITIONS) === partition) ?? '';
  const all = Array.from({ length: PARTITIONS }, (_, partition) => partition);

  /** A partition with one funded account, ready. */
  const fill = async (partition: number): Promise<void> => {
    const log = new ReferenceLog(partition);
    for (const command of funded(tenantIn(partition), 100n)) log.execute(command);
    const rebuild = await side.rebuild.begin(partition);
    await rebuild.accounts([...log.state.accounts.values()]);
    await rebuild.end({ ...log.head, incarnation: 1 });
    expect(await side.readiness.ready(partition, log.head.position)).toBe('ready');
  };
  const hold = (partition: number, id = 'r1'): Promise<HoldOutcome> => {
    const tenant = tenantIn(partition);
    return side.holds.hold(partition, reserveOf(id, { tenant, accounts: [tenant], requested: sole(65n) }));
  };

  const slotIn = (partition: number): number => slotOf(partitionKeys(keyPrefix, partition));
  const ownerOf = async (partition: number): Promise<ClusterNode> => {
    const asked = cluster.nodes.find(({ client }) => client.status === 'ready');
    const ranges = (await asked?.client.cluster('SLOTS')) as unknown as [number, number, [string, number]][];
    const port = ranges.find(([from, to]) => from <= slotIn(partition) && slotIn(partition) <= to)?.[2][1];
    const node = cluster.nodes.find((n) => n.port === port);
    if (node === undefined) throw new Error('Nobody owns the slot.');
    return node;
  };
  const otherThan = (node: ClusterNode): ClusterNode => cluster.nodes.find((n) => n !== node) ?? node;

  test('its partitions lie on all masters, and each works', async () => {
    const owners = new Set<number>();
    for (const partition of all) {
      await fill(partition);
      expect(await hold(partition)).toMatchObject({ kind: 'held' });
      owners.add((await ownerOf(partition)).port);
    }
    expect(owners.size).toBe(3);
    const info = await side.readiness.info(all);
    expect([...info.values()].map(({ ready, speculations }) => [ready, speculations])).toEqual(
      all.map(() => [true, 1]),
    );
  });

  test('a slot that moves: not ready while it does, found again afterwards, under a new epoch', async () => {
    await fill(0);
    const from = await ownerOf(0);
    const to = otherThan(from);
    const slot = slotIn(0).toString();
    await to.client.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id);
    await from.client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id);
    const keys = (await from.client.call('CLUSTER', 'GETKEYSINSLOT', slot, '1000')) as string[];
    const [first, ...rest] = keys;
    if (first === undefined) throw new Error('The slot holds no key.');
    const migrate = (some: string[]) =>
      from.client.call('MIGRATE', '127.0.0.1', to.port.toString(), '', '0', '5000', 'KEYS', ...some);
    await migrate([first]);
    expect(await hold(0)).toEqual({ kind: 'ask_journal', why: 'moved' });
    await migrate(rest);
    expect(await hold(0)).toEqual({ kind: 'ask_journal', why: 'moved' });
    for (const { client } of cluster.nodes) await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', to.id);
    await expect.poll(() => epochs.rows.get(0)?.epoch, { timeout: 5000 }).toBe(2);
    await expect.poll(() => hold(0), { timeout: 5000 }).toEqual({ kind: 'ask_journal', why: 'not_ready' });
    expect(await side.readiness.ready(0, 2)).toBe('ready');
    expect(await hold(0)).toMatchObject({ kind: 'held' });
  });

  test('a master that dies: its partitions go to the journal, those of the others work on', async () => {
    const victim = cluster.nodes[2];
    for (const partition of all) await fill(partition);
    const lost: number[] = [];
    for (const partition of all) if ((await ownerOf(partition)) === victim) lost.push(partition);
    // Else the Cluster stops as a whole when a slot is served by nobody.
    for (const { client } of cluster.nodes) await client.config('SET', 'cluster-require-full-coverage', 'no');
    await victim?.kill();
    for (const partition of lost)
      await expect.poll(() => hold(partition)).toMatchObject({ kind: 'ask_journal', why: 'unreachable' });
    const outcomes = await Promise.all(all.filter((p) => !lost.includes(p)).map((p) => hold(p, 'r2')));
    expect(outcomes.map(({ kind }) => kind)).toEqual(outcomes.map(() => 'held'));
    expect(lost.length).toBeGreaterThan(0);
  });
});
