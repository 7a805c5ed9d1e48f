/** `npm run bench`: the ledger's cycles, in process and by HTTP, beside what a bare Redis, Postgres and server do. */
import { Command, Option } from 'commander';
import { wholeNumber } from '../src/cli/load-options.js';
import { streamProgress } from '../src/stack/index.js';
import { openEvalsha } from './bare/evalsha.js';
import { openFastify } from './bare/fastify.js';
import { openInsert } from './bare/insert.js';
import { drive } from './drive.js';
import type { DriveOptions, Measured, Subject } from './drive.js';
import { manyCustomers, oneCustomer } from './ledger/accounts.js';
import { openHttp } from './ledger/http.js';
import { openInProcess } from './ledger/in-process.js';
import type { OpenLedger } from './ledger/in-process.js';
import { untilInterrupted } from './services.js';
import { openSetting } from './setting.js';
import type { BenchSetting } from './setting.js';
import { summarize, tableOf } from './table.js';

const PARTS = ['process', 'http', 'bare'] as const;
type Part = (typeof PARTS)[number];

interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly inFlight: number;
  readonly accounts: number;
  readonly only?: Part;
  readonly json?: boolean;
}

const progress = streamProgress(process.stderr);

class Bench {
  readonly measured: Measured[] = [];
  readonly #drive: DriveOptions;

  constructor(
    private readonly setting: BenchSetting,
    private readonly options: Options,
  ) {
    const durationMs = options.seconds * 1_000;
    this.#drive = { inFlight: options.inFlight, warmupMs: durationMs / 4, durationMs };
  }

  /** One round: everything once. Each is up only while it is measured, so that none disturbs another. */
  async round(): Promise<void> {
    const { only, inFlight } = this.options;
    if (only === undefined || only === 'process') await this.#ledger(await openInProcess(this.setting));
    if (only === undefined || only === 'http') await this.#ledger(await openHttp(this.setting, inFlight));
    if (only === undefined || only === 'bare') await this.#bare();
  }

  async #bare(): Promise<void> {
    const insert = await openInsert(this.setting);
    this.#note(await insert.measure());
    await insert.stop();
    const evalsha = await openEvalsha(this.setting, this.options.accounts);
    await this.#subject(evalsha.subject);
    await evalsha.stop();
    const empty = await openFastify(this.options.inFlight);
    await this.#subject(empty.subject);
    await empty.stop();
  }

  async #ledger(ledger: OpenLedger): Promise<void> {
    try {
      for (const customers of [manyCustomers(this.options.accounts), oneCustomer()]) {
        await ledger.open(customers);
        await this.#subject(ledger.subject(customers));
      }
    } finally {
      await ledger.close();
    }
  }

  async #subject(subject: Subject): Promise<void> {
    this.#note(await drive(subject, this.#drive));
  }

  #note(measured: Measured): void {
    this.measured.push(measured);
    progress.say(`${measured.name}: ${measured.operationsPerSecond.toFixed(0)} a second`);
  }
}

/** Below this, issue or machine: a plan has gone wrong. Cycles a second, in process, over many accounts. */
const SUSPICIOUS = 3_000;

const run = async (options: Options): Promise<void> => {
  const setting = await openSetting();
  try {
    const bench = new Bench(setting, options);
    for (let round = 1; round <= options.rounds; round++) {
      progress.say(`Round ${round} of ${options.rounds}`);
      await bench.round();
    }
    const summaries = summarize(bench.measured);
    if (options.json === true) {
      process.stdout.write(`${JSON.stringify({ options, summaries })}\n`);
      return;
    }
    process.stdout.write(`${tableOf(summaries)}\n`);
    process.stdout.write(
      'One of the ledger is a cycle: a durable reserve and its finalize, two events. Of the bare ones it is one event.\n' +
        `${options.inFlight} under way; medians of ${options.rounds} rounds (worst to best); CPU until Kafka has all events; by HTTP node is the server alone.\n`,
    );
    const cycles = summaries[0]?.operations_per_second.median ?? 0;
    if (cycles < SUSPICIOUS)
      process.stdout.write(
        `Below ${SUSPICIOUS} cycles a second in process: look at the plans, or at what else this machine does.\n`,
      );
  } finally {
    await setting.stop();
  }
};

await new Command('bench')
  .description('durable reserve and finalize cycles, beside bare Redis, Postgres and HTTP in the same run')
  .option('--rounds <n>', 'rounds, each measuring everything once', wholeNumber(1, 100), 3)
  .option('--seconds <n>', 'how long each is measured', wholeNumber(1, 600), 5)
  .option('--in-flight <n>', 'operations under way at once', wholeNumber(1, 5_000), 256)
  .option('--accounts <n>', 'accounts, where there are many', wholeNumber(1, 100_000), 1_000)
  .addOption(new Option('--only <part>', 'the ledger in process, by HTTP, or the bare parts').choices(PARTS))
  .option('--json', 'print JSON, for machines')
  .action((options: Options) => untilInterrupted(() => run(options)))
  .parseAsync();
