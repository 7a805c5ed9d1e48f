import type { Buckets } from '../../events/index.js';
import type { BalanceSample, BalancesReader } from '../core/ports.js';
import { listAt, optionalAt, readName, readTaken, textAt } from './answers.js';
import { readCheckpoint } from './balances.js';
import { faultOf } from './errors.js';
import type { Masters, Route } from './masters.js';

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
      const buckets = accounts.flatMap((account, index): [string, Buckets][] => {
        const found = readBuckets(listAt(rows, index));
        return found === undefined ? [] : [[account, found]];
      });
      return { checkpoint, accounts: new Map(buckets), speculations: readSpeculations(listAt(rest, 1)) };
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
