import { Command } from 'commander';
import { allPartitions } from '../core/partition.js';
import type { RebuildReport } from '../recovery/rebuild.js';
import { EXIT, exiting } from './exit.js';
import { withLedger } from './open.js';
import { print, printJson } from './output.js';
import { partitionNumber } from './read.js';

interface RebuildOptions {
  readonly partition?: string;
  readonly replay?: boolean;
  readonly json?: boolean;
}

const partitionsOf = ({ partition }: RebuildOptions, count: number): readonly number[] =>
  partition === undefined ? allPartitions(count) : [partitionNumber(partition, count)];

const lineOf = (report: RebuildReport): string =>
  `partition ${report.partition.toString()}: ${report.accounts.toString()} accounts, ` +
  `${report.openReservations.toString()} open reservations, at position ${report.checkpoint.position.toString()}`;

const run = (options: RebuildOptions): Promise<number> =>
  withLedger(async (holdfast) => {
    const partitions = partitionsOf(options, holdfast.identity.partitions);
    const reports: RebuildReport[] = [];
    for (const partition of partitions) {
      const report = await holdfast.rebuild(partition, { replay: options.replay ?? false });
      reports.push(report);
      if (!options.json && (partitions.length === 1 || report.accounts > 0)) print(lineOf(report));
    }
    const sum = (of: (report: RebuildReport) => number): number => reports.reduce((total, each) => total + of(each), 0);
    const totals = {
      partitions: reports.length,
      accounts: sum((r) => r.accounts),
      open_reservations: sum((r) => r.openReservations),
      speculations: sum((r) => r.speculations),
    };
    if (options.json) printJson(totals);
    else
      print(
        `Rebuilt ${totals.partitions.toString()} partitions: ${totals.accounts.toString()} accounts, ` +
          `${totals.open_reservations.toString()} open reservations.`,
      );
    return EXIT.fine;
  });

/** The command `rebuild`. */
export const rebuildCommand = (): Command =>
  new Command('rebuild')
    .description('make the balances in Redis anew from Postgres, under traffic')
    .option('--replay', 'from the events instead of the account rows, which are checked on the way')
    .option('--partition <n>', 'only this partition')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  holdfast rebuild --replay')
    .action((options: RebuildOptions) => exiting(() => run(options)));
