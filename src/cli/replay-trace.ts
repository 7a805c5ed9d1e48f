/** `holdfast replay-trace`: recorded requests played against a running server, and the sum checked to the micro-dollar. */
import { Command, Option } from 'commander';
import { SetupError, openCustomers, usedBy } from '../load/customers.js';
import type { Customer } from '../load/customers.js';
import { LedgerClient } from '../load/ledger-client.js';
import { planRequests } from '../load/plan.js';
import { play } from '../load/player.js';
import type { Tally, TallySummary } from '../load/tally.js';
import { PricingError, builtInPrices, loadPrices } from '../pricing/index.js';
import type { PriceBook } from '../pricing/index.js';
import { streamProgress } from '../stack/index.js';
import { TraceError, paced, readTraceFile } from '../traces/index.js';
import type { Speed, TraceRequest } from '../traces/index.js';
import { EXIT } from './exit.js';
import { dollars, pricesOption, runName, speedOption, wholeNumber } from './load-options.js';
import { processOutput } from './command-output.js';
import type { CommandOutput } from './command-output.js';

interface ReplayOptions {
  readonly prices?: string;
  readonly model: string;
  readonly url: string;
  readonly key?: string;
  readonly speed: Speed;
  readonly accounts: number;
  readonly concurrency: number;
  readonly giveUp: number;
  readonly json?: boolean;
}

/** Pays for any trace: a billion dollars for each account. */
const BALANCE = 10n ** 15n;

/** How often progress is told on what is no terminal, in requests. */
const PROGRESS_STEP = 5_000;

async function* oneAfterAnother(files: readonly string[]): AsyncGenerator<TraceRequest> {
  let offsetMs = 0;
  for (const file of files) {
    const startMs = offsetMs;
    for await (const request of readTraceFile(file)) {
      offsetMs = startMs + request.offsetMs;
      yield { ...request, offsetMs };
    }
  }
}

/** What a replay came to. Amounts in micro-dollars, as decimal strings. */
interface ReplayReport extends TallySummary {
  /** What the ledger says the run's accounts used. */
  readonly ledger_used: string;
  /** True when every request was finalized and the ledger's sum is the one worked out here. */
  readonly exact: boolean;
}

const reportOf = (tally: Tally, ledgerUsed: bigint): ReplayReport => ({
  ...tally.summary(),
  ledger_used: ledgerUsed.toString(),
  exact: ledgerUsed === tally.used && tally.count('finalized') === tally.requests,
});

const replay = async (
  files: readonly string[],
  options: ReplayOptions,
  prices: PriceBook,
  output: CommandOutput,
): Promise<ReplayReport> => {
  const progress = streamProgress(output.messages);
  const run = runName('replay');
  const customers = Array.from({ length: options.accounts }, (_unused, i): Customer => {
    return { tenant: `${run}-${i + 1}`, balance: BALANCE, topUp: 0n };
  });
  const { concurrency } = options;
  const client = new LedgerClient({
    baseUrl: options.url,
    key: options.key ?? '',
    connections: concurrency,
    giveUpMs: options.giveUp * 1_000,
  });
  try {
    await openCustomers(client, customers, Math.min(concurrency, 16));
    progress.say(`Playing ${files.join(', ')} as ${options.model} over ${customers.length} accounts of ${run} …`);
    const plan = planRequests(paced(oneAfterAnother(files), options.speed), {
      run,
      customers,
      models: [options.model],
      prices,
      seed: 1,
      failShare: 0,
    });
    const tally = await play(plan, client, {
      concurrency,
      onEnd: ({ requests }) => {
        if (requests % PROGRESS_STEP === 0) progress.say(`${requests} requests`);
      },
    });
    return reportOf(tally, await usedBy(client, customers));
  } finally {
    await client.close();
  }
};

const linesOf = (report: ReplayReport): string[] => [
  `requests ${report.requests}: finalized ${report.finalized}, refused ${report.refused}, rejected ${report.rejected}, unknown ${report.unknown}`,
  `${report.requests_per_second.toFixed(0)} requests a second, ${report.retries} retries`,
  `reserve p50 ${report.reserve.p50_ms.toFixed(1)} ms, p99 ${report.reserve.p99_ms.toFixed(1)} ms; ` +
    `finalize p50 ${report.finalize.p50_ms.toFixed(1)} ms, p99 ${report.finalize.p99_ms.toFixed(1)} ms`,
  ...Object.entries(report.errors).map(([why, count]) => `${count} × ${why}`),
  `used, says the ledger: ${report.ledger_used} micro-dollars (${dollars(BigInt(report.ledger_used))})`,
  `used, by trace and price: ${report.used} micro-dollars (${dollars(BigInt(report.used))})`,
  report.exact
    ? 'every request is accounted for, and the sums are equal'
    : 'NOT every request was finalized, or the sums differ',
];

const exitCodeOf = (error: unknown): number | undefined => {
  if (error instanceof TraceError || error instanceof PricingError) return EXIT.wrongUse;
  if (error instanceof SetupError) return error.unreachable ? EXIT.unreachable : EXIT.wrongUse;
  return undefined;
};

const run = async (files: readonly string[], options: ReplayOptions, output: CommandOutput): Promise<void> => {
  try {
    const prices = await (options.prices === undefined ? builtInPrices() : loadPrices(options.prices));
    prices.priceOf(options.model);
    const report = await replay(files, options, prices, output);
    output.out(options.json === true ? `${JSON.stringify(report)}\n` : `${linesOf(report).join('\n')}\n`);
    process.exitCode = report.exact ? EXIT.fine : EXIT.found;
  } catch (error) {
    const exitCode = exitCodeOf(error);
    if (exitCode === undefined || !(error instanceof Error)) throw error;
    output.messages.write(`${error.message}\n`);
    process.exitCode = exitCode;
  }
};

/** The command `replay-trace`. */
export const replayTraceCommand = (output: CommandOutput = processOutput): Command =>
  new Command('replay-trace')
    .description(
      'play recorded requests (TIMESTAMP,ContextTokens,GeneratedTokens) and check the sum to the micro-dollar',
    )
    .argument('<file...>', 'traces, played one after another')
    .addOption(pricesOption())
    .option('--model <name>', 'the model whose price all requests have', 'gpt-4o')
    .addOption(new Option('--url <url>', 'the server').env('HOLDFAST_URL').default('http://127.0.0.1:7420'))
    .addOption(
      new Option('--key <key>', 'a key for all tenants, with the scopes fund, reserve and read').env('HOLDFAST_KEY'),
    )
    .addOption(speedOption())
    .option('--accounts <n>', 'accounts that share the requests', wholeNumber(1, 10_000), 64)
    .option('--concurrency <n>', 'requests under way at once', wholeNumber(1, 1_024), 64)
    .option('--give-up <seconds>', 'how long a request without an answer is tried again', wholeNumber(0, 3_600), 30)
    .option('--json', 'print JSON, for machines')
    .addHelpText(
      'after',
      '\nExample:\n  HOLDFAST_KEY=… holdfast replay-trace AzureLLMInferenceTrace_conv.csv --model gpt-4o' +
        '\n  python3 scripts/sum_trace.py data/prices.json gpt-4o AzureLLMInferenceTrace_conv.csv   # the same sum, on its own',
    )
    .action((files: string[], options: ReplayOptions) => run(files, options, output));
