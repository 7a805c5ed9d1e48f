/** `holdfast demo`: the main job before your eyes, from services to numbers. */
import { Command } from 'commander';
import { planRequests } from '../load/plan.js';
import type { PlannedRequest } from '../load/plan.js';
import { SetupError } from '../load/customers.js';
import type { Customer } from '../load/customers.js';
import { PricingError, builtInPrices, loadPrices } from '../pricing/index.js';
import type { PriceBook } from '../pricing/index.js';
import { StackError, streamProgress } from '../stack/index.js';
import { TraceError, generateTrace, paced, readTraceFile } from '../traces/index.js';
import type { Speed, TraceRequest } from '../traces/index.js';
import { processOutput } from './command-output.js';
import type { CommandOutput } from './command-output.js';
import type { DemoPorts, DemoTarget } from './demo-ports.js';
import { jsonOf, lastLine, nextSteps, tableOf, verdictOf } from './demo-report.js';
import type { Part } from './demo-report.js';
import { Scenes, describeAudit } from './demo-run.js';
import type { SceneOptions } from './demo-run.js';
import { EXIT } from './exit.js';
import { interruptible } from './interruptible.js';
import { pricesOption, runName, speedOption, wholeNumber } from './load-options.js';

interface DemoOptions {
  readonly trace?: string;
  readonly prices?: string;
  readonly speed: Speed;
  readonly seed: number;
  readonly requests?: number;
  readonly accounts: number;
  readonly concurrency: number;
  readonly keep?: boolean;
  readonly json?: boolean;
}

const DEFAULT_REQUESTS = 20_000;
/** Unless a number of requests is asked for, the two parts of the demo take about this long at most, ms. */
const BUDGET_MS = [20_000, 8_000] as const;
/** So many of a hundred requests are played while Redis is emptied. */
const EMPTIED_PERCENT = 25;
const FAIL_SHARE = 0.03;

/** How many requests a trace file holds, up to what is wanted. */
const countRequests = async (file: string, wanted: number): Promise<number> => {
  const requests = readTraceFile(file);
  let count = 0;
  while (count < wanted && (await requests.next()).done !== true) count += 1;
  await requests.return(undefined);
  return count;
};

interface Playable {
  readonly trace: AsyncIterable<TraceRequest> | Iterable<TraceRequest>;
  readonly requests: number;
}

const traceOf = async ({ trace, requests, seed }: DemoOptions): Promise<Playable> => {
  if (trace === undefined) {
    const count = requests ?? DEFAULT_REQUESTS;
    return { trace: generateTrace({ seed, requests: count }), requests: count };
  }
  return { trace: readTraceFile(trace), requests: await countRequests(trace, requests ?? Number.POSITIVE_INFINITY) };
};

/** Models that generate text; an embedding's cost is known before it runs. */
const chatModels = (prices: PriceBook): string[] => {
  const models = prices.models.filter((model) => prices.priceOf(model).maxOutputTokens !== undefined);
  if (models.length > 0) return models;
  throw new PricingError('bad_price_file', 'The price file has no model that says how much it can generate.');
};

interface Stage {
  readonly options: DemoOptions;
  readonly prices: PriceBook;
  readonly playable: Playable;
  readonly scenes: Omit<SceneOptions, 'requests'>;
}

const planOf = (
  { options, prices, playable, scenes }: Stage,
  customers: readonly Customer[],
): AsyncGenerator<PlannedRequest> =>
  planRequests(paced(playable.trace, options.speed, scenes.signal), {
    run: scenes.run,
    customers,
    models: chatModels(prices),
    prices,
    seed: options.seed,
    failShare: FAIL_SHARE,
  });

const perform = async (target: DemoTarget, stage: Stage): Promise<Part[]> => {
  const { requests } = stage.playable;
  const emptied = Math.floor((requests * EMPTIED_PERCENT) / 100);
  const { say } = stage.scenes;
  const { trace, requests: asked } = stage.options;
  const scenes = new Scenes(target, {
    ...stage.scenes,
    requests: [requests - emptied, emptied],
    ...(trace === undefined && asked === undefined ? { budgetMs: BUDGET_MS } : {}),
  });
  try {
    for (const place of target.places) say(place);
    const customers = await scenes.openAccounts();
    const plan = planOf(stage, customers);
    const first = await scenes.ordinary(plan);
    say(tableOf([first]));
    say(describeAudit(first.audit));
    if (emptied === 0 || stage.scenes.signal.aborted) return [first];
    const second = await scenes.redisEmptied(plan);
    say(tableOf([first, second]));
    say(describeAudit(second.audit));
    return [first, second];
  } finally {
    await scenes.close();
  }
};

const run = async (
  ports: DemoPorts,
  options: DemoOptions,
  output: CommandOutput,
  signal: AbortSignal,
): Promise<number> => {
  const prices = await (options.prices === undefined ? builtInPrices() : loadPrices(options.prices));
  const playable = await traceOf(options);
  const progress = streamProgress(output.messages);
  const say = (line: string): void => (options.json === true ? undefined : output.out(`${line}\n`));
  const keep = options.keep ?? false;
  const target = await ports.bringUp({ progress, signal, keep });
  try {
    const { seed, accounts, concurrency } = options;
    const scenes = { run: runName('demo'), seed, accounts, concurrency, progress, say, signal };
    const parts = await perform(target, { options, prices, playable, scenes });
    if (signal.aborted) throw new StackError('stack_interrupted', 'Interrupted before the end: no verdict.');
    const verdict = verdictOf(parts);
    if (options.json === true) output.out(`${jsonOf(parts)}\n`);
    for (const line of nextSteps(keep ? target : undefined)) say(line);
    say(lastLine(verdict));
    return verdict.overspends === 0 && verdict.drift === 0 ? EXIT.fine : EXIT.found;
  } finally {
    await target.stop();
  }
};

const exitCodeOf = (error: unknown): number | undefined => {
  if (error instanceof StackError) return error.exitCode;
  if (error instanceof TraceError || error instanceof PricingError) return EXIT.wrongUse;
  return error instanceof SetupError ? EXIT.unreachable : undefined;
};

const act = async (ports: DemoPorts, options: DemoOptions, output: CommandOutput): Promise<void> => {
  try {
    process.exitCode = await interruptible((signal) => run(ports, options, output, signal));
  } catch (error) {
    const exitCode = exitCodeOf(error);
    if (exitCode === undefined || !(error instanceof Error)) throw error;
    output.messages.write(`${error.message}\n`);
    process.exitCode = exitCode;
  }
};

/** The command `demo`. Exit codes: 0 no overspend and no drift, 1 some, 2 wrong use, 3 a service can't be had. */
export const demoCommand = (ports: DemoPorts, output: CommandOutput = processOutput): Command =>
  new Command('demo')
    .description(
      'bring everything up, play LLM requests through the server, empty Redis meanwhile, and count what went wrong',
    )
    .option('--trace <file>', 'play this trace (TIMESTAMP,ContextTokens,GeneratedTokens) instead of a generated one')
    .addOption(speedOption())
    .addOption(pricesOption())
    .option('--seed <n>', 'another seed gives other requests and customers', wholeNumber(0, 4_294_967_295), 1)
    .option(
      '--requests <n>',
      `how many (default: ${DEFAULT_REQUESTS}, fewer on a slow machine; or the whole trace)`,
      wholeNumber(1, 100_000_000),
    )
    .option('--accounts <n>', 'how many customers', wholeNumber(1, 100_000), 1_000)
    .option('--concurrency <n>', 'requests under way at once', wholeNumber(1, 1_024), 64)
    .option('--keep', 'leave the stack and the server running, and show address and key')
    .option('--json', 'print JSON, for machines')
    .addHelpText('after', '\nExample:\n  holdfast demo --requests 5000 --keep')
    .action((options: DemoOptions) => act(ports, options, output));
