import { Command, Option } from 'commander';
import { restore } from '../compose/restore.js';
import type { RestoreOptions, Restored } from '../compose/restore.js';
import { createLogger } from '../logging.js';
import { streamProgress } from '../stack/index.js';
import { EXIT, exiting } from './exit.js';
import { interruptible } from './interruptible.js';
import { commandConfig } from './open.js';
import { print, printJson, table } from './output.js';
import { countOf } from './read.js';
import { stepProgress } from './step-progress.js';

interface Options {
  readonly from: 'kafka' | 'postgres';
  readonly partition?: string;
  readonly ledger?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const restoreProgress = (): RestoreOptions['onProgress'] =>
  stepProgress<string>(streamProgress(process.stderr), () => performance.now(), {
    begun: (step) => `${step} …`,
    going: (step, { done, total, rate, secondsLeft }) => {
      const left = secondsLeft === undefined ? '' : `, ${secondsLeft.toString()} s left`;
      const of = total > 0 ? ` of ${total.toString()}` : '';
      return `${step}: ${done.toString()}${of} events, ${rate.toString()} a second${left}`;
    },
  });

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
      onProgress: restoreProgress(),
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
