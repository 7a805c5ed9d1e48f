/** `npm run bench:overspend`: a million reserves race for half a million units, guarded and unguarded. */
import { Command } from 'commander';
import Table from 'cli-table3';
import { wholeNumber } from '../src/cli/load-options.js';
import { streamProgress } from '../src/stack/index.js';
import { openBaseline, removeKeys } from './overspend/baseline.js';
import { benchPrefix, openGuard } from './overspend/guard.js';
import { race, shuffledTenants } from './overspend/race.js';
import type { RaceResult, RaceSize } from './overspend/race.js';
import { judge, sentenceOf } from './overspend/verdict.js';
import { startBenchServices, untilInterrupted } from './services.js';

interface Options extends RaceSize {
  readonly seed: number;
  readonly json?: boolean;
}

const races = async (
  url: string,
  size: RaceSize,
  seed: number,
): Promise<{ guard: RaceResult; baseline: RaceResult }> => {
  const progress = streamProgress(process.stderr);
  const keyPrefix = benchPrefix();
  const order = shuffledTenants(size, seed);
  const timed = async (contender: Parameters<typeof race>[0]): Promise<RaceResult> => {
    const task = progress.task(contender.name, size.requests);
    const result = await race(contender, size, order, (done) => task.advance(done, 'reserves'));
    task.end();
    return result;
  };
  try {
    const unguarded = await openBaseline(url, keyPrefix, size);
    const baseline = await timed(unguarded);
    await unguarded.stop();
    const guarded = await openGuard(url, keyPrefix, size);
    const guard = await timed(guarded);
    const { available, held, lowest } = await guarded.balances();
    await guarded.stop();
    if (held !== BigInt(guard.granted) || available + held !== BigInt(size.tenants * size.balance) || lowest < 0n)
      throw new Error(`Redis says held ${held}, available ${available}, lowest ${lowest}: not what was granted.`);
    return { guard, baseline };
  } finally {
    await removeKeys(url, keyPrefix);
  }
};

const tableOf = (results: readonly RaceResult[]): string => {
  const table = new Table({
    head: ['', 'granted', 'refused', 'overspends', 'false refusals', 'P50 ms', 'P99 ms', 'reserves a second'],
    style: { head: [], border: [] },
  });
  for (const r of results) {
    const { p50_ms: p50, p99_ms: p99, count } = r.latency;
    const rate = (count / r.seconds).toFixed(0);
    table.push([r.name, r.granted, r.refused, r.overspends, r.falseRefusals, p50.toFixed(2), p99.toFixed(2), rate]);
  }
  return table.toString();
};

const run = async ({ seed, json, ...size }: Options): Promise<void> => {
  const services = await startBenchServices(['redis']);
  try {
    const { guard, baseline } = await races(services.recordOf('redis').address, size, seed);
    const verdict = judge(size, guard, baseline);
    if (json === true) process.stdout.write(`${JSON.stringify({ verdict, size, guard, baseline })}\n`);
    else process.stdout.write(`${tableOf([guard, baseline])}\n${sentenceOf(verdict, size, guard, baseline)}\n`);
    process.exitCode = verdict === 'exact' ? 0 : 1;
  } finally {
    await services.stop();
  }
};

await new Command('bench:overspend')
  .description('race reserves of one unit through the Lua guard, and through GET and DECRBY')
  .option('--tenants <n>', 'customers', wholeNumber(1, 1_000_000), 1_000)
  .option('--balance <n>', 'units of each', wholeNumber(1, 1_000_000), 500)
  .option('--requests <n>', 'reserves of one unit, over all customers', wholeNumber(1, 100_000_000), 1_000_000)
  .option('--connections <n>', 'connections, one reserve under way on each', wholeNumber(1, 5_000), 200)
  .option('--seed <n>', 'the order of the reserves', wholeNumber(0, 4_294_967_295), 1)
  .option('--json', 'print JSON, for machines')
  .action((options: Options) => untilInterrupted(() => run(options)))
  .parseAsync();
