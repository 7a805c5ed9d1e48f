import { randomBytes } from 'node:crypto';
import type { Reserve } from '../../src/core/command.js';
import { partitionOf } from '../../src/core/partition.js';
import type { EpochRegistry } from '../../src/core/ports.js';
import { openRedis } from '../../src/redis/index.js';
import type { RedisSide } from '../../src/redis/index.js';
import type { Contender, RaceSize } from './race.js';

const PARTITIONS = 64;
const INCARNATION = 1;

/** A busy machine shall make the race slow, not unclear. */
const ANSWER_MS = 60_000;
/** A ledger looks every two seconds whether its Redis is still the same one; 200 of them at once would be a load of their own. */
const RECHECK_MS = 3_600_000;

/** In the ledger Postgres remembers these. Here there is one Redis, for as long as the race lasts. */
const epochs: EpochRegistry = {
  confirm: (partitions) => Promise.resolve(new Map(partitions.map((partition) => [partition, 1]))),
  raiseTo: (_partition, epoch) => Promise.resolve(epoch),
};

const tenantName = (tenant: number): string => `t${tenant}`;

export interface Guard extends Contender {
  /** Reads every account from Redis: what is left and what is held, over all tenants. */
  balances(): Promise<{ readonly available: bigint; readonly held: bigint; readonly lowest: bigint }>;
  stop(): Promise<void>;
}

const accountsOf = (size: RaceSize): Map<number, string[]> => {
  const byPartition = new Map<number, string[]>();
  for (let tenant = 0; tenant < size.tenants; tenant++) {
    const name = tenantName(tenant);
    const partition = partitionOf(name, PARTITIONS);
    byPartition.set(partition, [...(byPartition.get(partition) ?? []), name]);
  }
  return byPartition;
};

/** Writes the accounts the way a rebuild does, and makes their partitions ready. */
const load = async (
  side: RedisSide,
  { balance }: RaceSize,
  byPartition: ReadonlyMap<number, string[]>,
): Promise<void> => {
  for (const [partition, names] of byPartition) {
    const rebuild = await side.rebuild.begin(partition);
    await rebuild.accounts(
      names.map((name) => ({
        account: name,
        tenant: name,
        unit: 'USD',
        scale: 6,
        overdraftLimit: 0n,
        exempt: false,
        available: BigInt(balance),
        held: 0n,
        used: 0n,
        funded: BigInt(-balance),
        position: 1,
      })),
    );
    await rebuild.end({ partition, position: 1, hash: '0'.repeat(64), incarnation: INCARNATION });
    const outcome = await side.readiness.ready(partition, 1);
    if (outcome !== 'ready') throw new Error(`Partition ${partition} is not ready: ${outcome}.`);
  }
};

const reserveOf = (tenant: string, request: number): Reserve => ({
  kind: 'reserve',
  tenant,
  id: `r${request}`,
  accounts: [tenant],
  requested: { kind: 'sole', amount: 1n },
  policy: 'caller',
  ttlSeconds: 600,
  level: 'durable',
});

/** The ledger's own guard: its adapter and its hold script, a Redis connection for each of the race's. */
export const openGuard = async (url: string, keyPrefix: string, size: RaceSize): Promise<Guard> => {
  const open = (): Promise<RedisSide> =>
    openRedis({
      settings: { url, keyPrefix, timeoutMs: ANSWER_MS, recheckMs: RECHECK_MS },
      partitions: PARTITIONS,
      epochs,
    });
  const sides: RedisSide[] = [];
  for (let i = 0; i < size.connections; i++) sides.push(await open());
  const [first] = sides;
  if (first === undefined) throw new Error('A race needs a connection.');
  const byPartition = accountsOf(size);
  await load(first, size, byPartition);
  return {
    name: 'Lua guard',
    reserve: async (connection, tenant, request) => {
      const name = tenantName(tenant);
      const outcome = await sides[connection]?.holds.hold(partitionOf(name, PARTITIONS), reserveOf(name, request));
      if (outcome?.kind === 'held') return 'granted';
      return outcome?.kind === 'refused' ? 'refused' : 'unclear';
    },
    balances: async () => {
      let available = 0n;
      let held = 0n;
      let lowest = BigInt(size.balance);
      for (const [partition, names] of byPartition) {
        const sample = await first.reader.sample(partition, names);
        if (sample?.accounts.size !== names.length) throw new Error(`Partition ${partition} can't be read.`);
        for (const account of sample.accounts.values()) {
          available += account.available;
          held += account.held;
          if (account.available < lowest) lowest = account.available;
        }
      }
      return { available, held, lowest };
    },
    stop: async () => {
      await Promise.all(sides.map((side) => side.stop()));
    },
  };
};

/** A key prefix that nothing else in this Redis has. */
export const benchPrefix = (): string => `hfbench-${randomBytes(4).toString('hex')}`;
