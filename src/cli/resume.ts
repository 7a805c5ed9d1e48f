import { Command } from 'commander';
import type { ResumedLedger } from '../compose.js';
import { EXIT, exiting } from './exit.js';
import { withLedger } from './open.js';
import { print, printJson } from './output.js';

interface ResumeOptions {
  readonly withoutKafka?: boolean;
  readonly json?: boolean;
}

const counted = ({ lost }: ResumedLedger): number => [...lost.values()].reduce((sum, count) => sum + count, 0);

/** What was asked, and what may be missing without anybody's knowing. */
const unaskedIn = ({ kafkaAsked, redisUnasked }: ResumedLedger): readonly string[] => [
  ...(kafkaAsked ? [] : ['Kafka']),
  ...(redisUnasked > 0 ? [`${redisUnasked.toString()} partitions of Redis`] : []),
];

const outcome = (resumed: ResumedLedger): string => {
  const events = counted(resumed);
  const unasked = unaskedIn(resumed).join(' and ');
  const unknown =
    unasked === '' ? '' : ` Not asked: ${unasked}. What only they had is given up, and how much that is can't be said.`;
  if (events > 0)
    return `${events.toString()} acknowledged events are lost; Redis is rebuilt from the journal by the servers.${unknown}`;
  if (unasked === '') return 'Nothing that Redis or Kafka had seen is missing from the journal.';
  return `Nothing that could be asked has seen more than the journal.${unknown}`;
};

const asJson = (resumed: ResumedLedger): Readonly<Record<string, unknown>> => ({
  from: resumed.from,
  incarnation: resumed.incarnation,
  why: resumed.why ?? null,
  lost: {
    events: counted(resumed),
    partitions: [...resumed.lost].map(([partition, count]) => ({ partition, events: count })),
  },
  not_asked: { kafka: !resumed.kafkaAsked, redis_partitions: resumed.redisUnasked },
});

const run = (options: ResumeOptions): Promise<number> =>
  withLedger(async (holdfast) => {
    const resumed = await holdfast.resume({ withoutKafka: options.withoutKafka ?? false });
    if (options.json) {
      printJson(asJson(resumed));
      return EXIT.fine;
    }
    print(
      resumed.why === undefined
        ? 'Nothing was seen that had closed the journal: this declares a restore that left no trace.'
        : `What had closed the journal: ${resumed.why}.`,
    );
    print(`Resumed: incarnation ${resumed.from.toString()} is over, ${resumed.incarnation.toString()} begins.`);
    for (const [partition, count] of resumed.lost)
      print(
        `partition ${partition.toString()}: Redis had seen ${count.toString()} events more, which no log has: they are lost`,
      );
    print(outcome(resumed));
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
