import { Command } from 'commander';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Holdfast } from '../compose.js';
import { checkCheckpoints } from '../compose/prove.js';
import { verifyWith } from '../compose/verify.js';
import type { Finding } from '../recovery/finding.js';
import type { VerifyParts, VerifyReport } from '../recovery/verify.js';
import { streamProgress } from '../stack/index.js';
import { EXIT, WrongUseError, exiting } from './exit.js';
import { interruptible } from './interruptible.js';
import { withLedger } from './open.js';
import { print, printJson, printLine, timeText } from './output.js';
import { countOf } from './read.js';
import { stepProgress } from './step-progress.js';
import { checkpointsText } from './verify-checkpoints.js';

interface VerifyOptions {
  readonly json?: boolean;
  readonly deep?: boolean;
  /** True when given without a number of seconds. */
  readonly watch?: string | true;
  /** A file of signed checkpoints, and whose signature on them is believed. */
  readonly checkpoints?: string;
  readonly checkpointKey?: readonly string[];
  /** Postgres at the signed places, and nothing else. */
  readonly checkpointsOnly?: boolean;
}

const WATCH_SECONDS = 60;

const findingText = ({ where, partition, position, account, what }: Finding): string => {
  const place = [
    `partition ${partition.toString()}`,
    ...(position === undefined ? [] : [`position ${position.toString()}`]),
    ...(account === undefined ? [] : [`account ${account}`]),
  ];
  return `${where}, ${place.join(', ')}: ${what}`;
};

const driftText = (report: VerifyReport): string =>
  `drift: Postgres ${report.postgres.toString()}, Kafka ${report.kafka.toString()}, Redis ${report.redis.toString()}`;

/** The verdict in lines: what was found first, then the numbers. */
export const verdictText = (report: VerifyReport): string =>
  [
    ...report.findings.map(findingText),
    ...report.notes.map((note) => `${findingText(note)} (no drift)`),
    `${report.events.toString()} events, ${report.accounts.toString()} accounts` +
      `${report.records === undefined ? '' : `, ${report.records.toString()} records in Redis`}; ` +
      `messages that came twice: ${report.kafkaDuplicates.toString()}, foreign: ${report.kafkaForeign.toString()}`,
    driftText(report),
  ].join('\n');

const isFine = (report: VerifyReport): boolean => report.postgres + report.kafka + report.redis === 0;

const verifyProgress = (): VerifyParts['onProgress'] =>
  stepProgress(streamProgress(process.stderr), () => performance.now(), {
    begun: (step) => `verifying ${step}`,
    going: (step, { done, total, rate, secondsLeft }) => {
      const left = secondsLeft === undefined ? 'time left unknown' : `${secondsLeft.toString()} s left`;
      const what = step === 'redis' ? 'partitions' : 'events';
      return `verifying ${step}: ${done.toString()} of ${total.toString()} ${what}, ${rate.toString()} a second, ${left}`;
    },
  });

const once = async (holdfast: Holdfast, options: VerifyOptions): Promise<number> => {
  const onProgress = verifyProgress();
  const signed =
    options.checkpoints === undefined
      ? undefined
      : await checkCheckpoints(holdfast, options.checkpoints, options.checkpointKey ?? []);
  const report =
    options.checkpointsOnly === true
      ? undefined
      : await verifyWith(holdfast, onProgress, { deep: options.deep ?? false, checkpoints: signed });
  if (options.json) printJson({ ...report, ...(signed === undefined ? {} : { checkpoints: signed.verdict }) });
  else {
    if (signed !== undefined) print(checkpointsText(signed.verdict));
    if (report !== undefined) print(verdictText(report));
  }
  const fine = (report === undefined || isFine(report)) && (signed?.verdict.count ?? 0) === 0;
  return fine ? EXIT.fine : EXIT.found;
};

/** Round after round, a line each, until drift is found or an interrupt comes. */
const again = (holdfast: Holdfast, options: VerifyOptions, pauseMs: number): Promise<number> =>
  interruptible(async (signal) => {
    for (;;) {
      const startedMs = Date.now();
      const report = await verifyWith(holdfast, () => undefined, { deep: options.deep ?? false });
      const seconds = (Date.now() - startedMs) / 1000;
      if (options.json) printLine({ time: timeText(startedMs), seconds, ...report });
      else if (isFine(report))
        print(
          `${timeText(startedMs)}  ${report.events.toString()} events, ${report.accounts.toString()} accounts in ${seconds.toFixed(1)} s; ${driftText(report)}`,
        );
      else print(`${timeText(startedMs)}\n${verdictText(report)}`);
      if (!isFine(report)) return EXIT.found;
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return EXIT.fine;
    }
  });

const pauseOf = (watch: string | true): number => {
  const seconds = watch === true ? WATCH_SECONDS : countOf(watch, '--watch');
  if (seconds < 1 || seconds > 86_400) throw new WrongUseError('--watch is from 1 to 86400 seconds');
  return seconds * 1000;
};

const run = (options: VerifyOptions): Promise<number> => {
  const pauseMs = options.watch === undefined ? undefined : pauseOf(options.watch);
  const needless =
    options.checkpoints === undefined && (options.checkpointsOnly === true || options.checkpointKey !== undefined);
  if (needless) throw new WrongUseError('--checkpoint-key and --checkpoints-only go with --checkpoints');
  if (pauseMs !== undefined && options.checkpoints !== undefined)
    throw new WrongUseError('--checkpoints does not go with --watch');
  return withLedger((holdfast) =>
    pauseMs === undefined ? once(holdfast, options) : again(holdfast, options, pauseMs),
  );
};

/** The command `verify`. */
export const verifyCommand = (): Command =>
  new Command('verify')
    .description(
      'the chain, and whether Postgres, Kafka and Redis agree, beside live traffic; exit 1 when drift is not 0',
    )
    .option('--deep', 'also every row of the state worked out from the events, and every record in Redis')
    .option(
      '--watch [seconds]',
      `again and again, a line each, until drift is found (default ${WATCH_SECONDS.toString()})`,
    )
    .option('--checkpoints <file>', 'also whether the log is still the one that was signed, by a file of checkpoints')
    .option('--checkpoint-key <key...>', 'verifier key that they are signed with (default: that of the configured key)')
    .option('--checkpoints-only', 'nothing but Postgres at the signed places: quick, however long the log is')
    .option('--json', 'print JSON; with --watch one document a line')
    .addHelpText(
      'after',
      '\nExample:\n  holdfast verify --deep\n  holdfast verify --watch 30\nSee also: holdfast doctor, holdfast digest',
    )
    .action((options: VerifyOptions) => exiting(() => run(options)));
