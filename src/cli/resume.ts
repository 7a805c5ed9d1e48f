import { Command } from 'commander';
import { EXIT, exiting } from './exit.js';
import { withLedger } from './open.js';
import { print, printJson } from './output.js';

interface ResumeOptions {
  readonly withoutKafka?: boolean;
  readonly json?: boolean;
}

const run = (options: ResumeOptions): Promise<number> =>
  withLedger(async (holdfast) => {
    const resumed = await holdfast.resume({ withoutKafka: options.withoutKafka ?? false });
    const lost = [...resumed.lost];
    const events = lost.reduce((sum, [, count]) => sum + count, 0);
    if (options.json) {
      const partitions = lost.map(([partition, count]) => ({ partition, events: count }));
      printJson({ from: resumed.from, incarnation: resumed.incarnation, lost: { events, partitions } });
      return EXIT.fine;
    }
    print(`Resumed: incarnation ${resumed.from.toString()} is over, ${resumed.incarnation.toString()} begins.`);
    for (const [partition, count] of lost)
      print(
        `partition ${partition.toString()}: Redis had seen ${count.toString()} events more, which no log has: they are lost`,
      );
    print(
      events === 0
        ? 'Nothing that Redis or Kafka had seen is missing from the journal.'
        : `${events.toString()} acknowledged events are lost; Redis is rebuilt from the journal by the servers.`,
    );
    return EXIT.fine;
  });

/** The command `resume`. */
export const resumeCommand = (): Command =>
  new Command('resume')
    .description('open the journal for writing again after it was restored, moved or failed over')
    .option('--without-kafka', "although Kafka can't be asked: what it alone has is given up")
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nRefused while Kafka is ahead of the journal or holds other events: holdfast restore --from kafka comes first.' +
        '\nWhatever still carries the incarnation before is refused from then on.' +
        '\n\nExample:\n  holdfast doctor && holdfast resume',
    )
    .action((options: ResumeOptions) => exiting(() => run(options)));
