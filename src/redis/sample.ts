import type { Redis } from 'ioredis';
import type { Buckets } from '../../events/index.js';
import type { BalanceSample, BalancesReader, Checkpoint, RecordPage, SpeculationId } from '../core/ports.js';
import { listAt, nameOf, optionalAt, readName, readTaken, textAt } from './answers.js';
import { readCheckpoint } from './balances.js';
import { faultOf } from './errors.js';
import type { Masters, Route } from './masters.js';
import { readRecord } from './record.js';

const ACCOUNTS_MAX = 1000;

const readBuckets = (row: readonly unknown[]): Buckets | undefined => {
  if (optionalAt(row, 0) === undefined) return undefined;
  const [spendable, overdraft, held, used, funded] = [1, 2, 3, 4, 5].map((index) => BigInt(textAt(row, index)));
  if (spendable === undefined || overdraft === undefined) return undefined;
  return { available: spendable - overdraft, held: held ?? 0n, used: used ?? 0n, funded: funded ?? 0n };
};

const readSpeculations = (pairs: readonly unknown[]): BalanceSample['speculations'] => {
  const found: BalanceSample['speculations'][number][] = [];
  for (let i = 0; i < pairs.length; i += 2) {
    const taken = readTaken(textAt(pairs, i + 1).split('|')[3] ?? '');
    found.push({ ...readName(textAt(pairs, i)), taken: new Map(taken.map((t) => [t.account, t.amount])) });
  }
  return found;
};

type Pipeline = ReturnType<Redis['multi']>;

/** One reading command and the checkpoint, of one instant: nothing comes between the commands of a MULTI. */
const atOnce = async (
  { connection, keys }: Route,
  read: (redis: Pipeline, keys: Route['keys']) => Pipeline,
): Promise<{ readonly meta: readonly unknown[]; readonly rest: readonly unknown[] }> => {
  const answers = await connection.command((redis) =>
    read(redis.multi().hmget(keys.meta, 'cp', 'h', 'inc'), keys).exec(),
  );
  const [meta, rest] = (answers ?? []).map(([error, value]) => {
    if (error !== null) throw error;
    return value;
  });
  return { meta: listAt([meta], 0), rest: listAt([rest], 0) };
};

const reservationIn = (name: string, text: string): RecordPage['records'][number]['reservation'] => {
  try {
    return readRecord(text, readName(name)).reservation;
  } catch {
    return undefined;
  }
};

/** Reads balances for verify and the healing pass. */
export class RedisBalancesReader implements BalancesReader {
  constructor(private readonly masters: Masters) {}

  async sample(partition: number, accounts: readonly string[]): Promise<BalanceSample | undefined> {
    if (accounts.length > ACCOUNTS_MAX)
      throw new RangeError(`A sample holds at most ${ACCOUNTS_MAX.toString()} accounts.`);
    return this.ask(partition, 'sample', async (route) => {
      const { rest } = await route.connection.run('sample', route.keys, {}, accounts);
      const checkpoint = readCheckpoint(partition, listAt(rest, 0));
      if (checkpoint === undefined) return undefined;
      const rows = listAt(rest, 2);
      const units = new Map<string, string>();
      const buckets = new Map<string, Buckets>();
      accounts.forEach((account, index) => {
        const row = listAt(rows, index);
        const [unit, found] = [optionalAt(row, 0), readBuckets(row)];
        if (unit === undefined || found === undefined) return;
        units.set(account, unit);
        buckets.set(account, found);
      });
      return { checkpoint, accounts: buckets, units, speculations: readSpeculations(listAt(rest, 1)) };
    });
  }

  async accountNames(
    partition: number,
    cursor: string,
  ): Promise<{ readonly names: string[]; readonly cursor: string } | undefined> {
    return this.ask(partition, 'accounts', async ({ connection, keys }) => {
      const [next, names] = await connection.command((redis) => redis.sscan(keys.accounts, cursor, 'COUNT', 500));
      return { names, cursor: next };
    });
  }

  async records(partition: number, cursor: string): Promise<RecordPage | undefined> {
    return this.ask(partition, 'records', async (route) => {
      const read = await atOnce(route, (redis, keys) => redis.hscan(keys.holds, cursor, 'COUNT', 500));
      const checkpoint = readCheckpoint(partition, read.meta);
      if (checkpoint === undefined) return undefined;
      const pairs = listAt(read.rest, 1);
      const records = Array.from({ length: pairs.length / 2 }, (_, index) => {
        const name = textAt(pairs, 2 * index);
        return { name, reservation: reservationIn(name, textAt(pairs, 2 * index + 1)) };
      });
      return { checkpoint, records, cursor: textAt(read.rest, 0) };
    });
  }

  async knowsRecords(
    partition: number,
    ids: readonly SpeculationId[],
  ): Promise<{ readonly checkpoint: Checkpoint; readonly known: readonly boolean[] } | undefined> {
    return this.ask(partition, 'records', async (route) => {
      const names = ids.map(({ tenant, id }) => nameOf(tenant, id));
      const read = await atOnce(route, (redis, keys) => redis.hmget(keys.holds, ...names));
      const checkpoint = readCheckpoint(partition, read.meta);
      if (checkpoint === undefined) return undefined;
      return { checkpoint, known: read.rest.map((record) => typeof record === 'string') };
    });
  }

  private async ask<T>(
    partition: number,
    what: string,
    question: (route: Route) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const route = this.masters.route(partition);
    if (route === undefined) return undefined;
    try {
      return await question(route);
    } catch (error) {
      this.masters.note(faultOf(error), what);
      return undefined;
    }
  }
}
