import { Command, Option } from 'commander';
import { restore } from '../compose/restore.js';
import type { RestoreOptions, Restored } from '../compose/restore.js';
import { createLogger } from '../logging.js';
import { streamProgress } from '../stack/index.js';
import type { Progress } from '../stack/index.js';
import { EXIT, exiting } from './exit.js';
import { interruptible } from './interruptible.js';
import { commandConfig } from './open.js';
import { print, printJson, table } from './output.js';
import { countOf } from './read.js';

interface Options {
  readonly from: 'kafka' | 'postgres';
  readonly partition?: string;
  readonly ledger?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** How often a line of progress is written, ms. */
const SAY_MS = 2000;

/** A line for each step at its beginning, then one now and then with its rate and the time left. */
export const restoreProgress = (progress: Progress, nowMs: () => number): RestoreOptions['onProgress'] => {
  let step = '';
  let [startedMs, first, saidMs] = [0, 0, 0];
  return (name, done, total) => {
    const ms = nowMs();
    if (name !== step) {
      [step, startedMs, first, saidMs] = [name, ms, done, ms];
      progress.say(`${name} …`);
      return;
    }
    if (ms - saidMs < SAY_MS) return;
    saidMs = ms;
    const rate = ((done - first) * 1000) / Math.max(1, ms - startedMs);
    const left = rate > 0 && total > 0 ? `, ${Math.ceil(Math.max(0, total - done) / rate).toString()} s left` : '';
    const of = total > 0 ? ` of ${total.toString()}` : '';
    progress.say(`${name}: ${done.toString()}${of} events, ${Math.round(rate).toString()} a second${left}`);
  };
};

const textOf = ({ ledger, adopted, partitions }: Restored, { from, dryRun }: Options): string => {
  const [where, what] = from === 'kafka' ? ['Postgres', 'restored'] : ['the topic', 'sent again'];
  const rows = partitions
    .filter(({ events }) => events > 0)
    .map(({ partition, from: position, events }) => [partition, position, events].map(String));
  const sum = partitions.reduce((all, { events }) => all + events, 0).toString();
  return [
    ...(rows.length === 0 ? [] : [table(['partition', 'had up to', dryRun ? 'lacks' : what], rows)]),
    ...(adopted ? [`The database ${dryRun ? 'would become' : 'is'} that of the ledger ${ledger}.`] : []),
    dryRun ? `${where} lacks ${sum} events. Nothing was written.` : `${sum} events ${what}.`,
  ].join('\n');
};

const run = (options: Options): Promise<number> =>
  interruptible(async (signal) => {
    const restored = await restore(await commandConfig(), {
      from: options.from,
      ...(options.partition === undefined ? {} : { partition: countOf(options.partition, '--partition') }),
      ...(options.ledger === undefined ? {} : { ledger: options.ledger }),
      dryRun: options.dryRun ?? false,
      logger: createLogger({ level: 'warn', destination: process.stderr }),
      signal,
      onProgress: restoreProgress(streamProgress(process.stderr), () => performance.now()),
    });
    if (options.json) printJson({ from: options.from, dry_run: options.dryRun ?? false, ...restored });
    else print(textOf(restored, options));
    return EXIT.fine;
  });

/** The command `restore`. */
export const restoreCommand = (): Command =>
  new Command('restore')
    .description("fill an empty or older Postgres from Kafka's log, or a lost or damaged topic from Postgres")
    .addOption(
      new Option('--from <service>', 'which one has the log').choices(['kafka', 'postgres']).makeOptionMandatory(),
    )
    .option('--partition <n>', 'only this partition')
    .option('--ledger <id>', 'into an empty database: which ledger, when the topic holds several')
    .option('--dry-run', 'only say how many events each partition lacks')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nThe chain is checked first; a log that forks or has a gap is refused with nothing written. Cut short, it goes on' +
        '\nwhere it stopped when it is run again. Into Postgres: stop the servers first. Into Kafka: beside running servers.' +
        '\n\nExample:\n  holdfast migrate && holdfast restore --from kafka && holdfast verify\nSee also: docs/RECOVERY.md',
    )
    .action((options: Options) => exiting(() => run(options)));
