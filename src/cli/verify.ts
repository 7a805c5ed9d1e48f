import { Command } from 'commander';
import type { VerifyReport } from '../recovery/verify.js';
import { streamProgress } from '../stack/index.js';
import { EXIT, exiting } from './exit.js';
import { withLedger } from './open.js';
import { print, printJson } from './output.js';

interface VerifyOptions {
  readonly json?: boolean;
}

/** The verdict in lines: what was found first, then the numbers. */
export const verdictText = (report: VerifyReport): string => {
  const lines = report.findings.map(({ where, partition, position, account, what }) => {
    const place = [
      `partition ${partition.toString()}`,
      ...(position === undefined ? [] : [`position ${position.toString()}`]),
      ...(account === undefined ? [] : [`account ${account}`]),
    ];
    return `${where}, ${place.join(', ')}: ${what}`;
  });
  lines.push(
    `${report.events.toString()} events, ${report.accounts.toString()} accounts; messages that came twice: ${report.kafkaDuplicates.toString()}, foreign: ${report.kafkaForeign.toString()}`,
    `drift: Postgres ${report.postgres.toString()}, Kafka ${report.kafka.toString()}, Redis ${report.redis.toString()}`,
  );
  return lines.join('\n');
};

const run = (options: VerifyOptions): Promise<number> =>
  withLedger(async (holdfast) => {
    const progress = streamProgress(process.stderr);
    let step = '';
    const report = await holdfast.verify((name) => {
      if (name !== step) progress.say(`verifying ${name}`);
      step = name;
    });
    if (options.json) printJson(report);
    else print(verdictText(report));
    return report.postgres + report.kafka + report.redis === 0 ? EXIT.fine : EXIT.found;
  });

/** The command `verify`. */
export const verifyCommand = (): Command =>
  new Command('verify')
    .description(
      'the chain, and whether Postgres, Kafka and Redis agree, beside live traffic; exit 1 when drift is not 0',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  holdfast verify')
    .action((options: VerifyOptions) => exiting(() => run(options)));
