import { Command } from 'commander';
import { messageOf } from '../../events/index.js';
import type { StoredEvent } from '../../events/index.js';
import { EXIT, RejectedError, exiting } from './exit.js';
import { accepted, withLedger } from './open.js';
import { print, printJson, printLine, timeText } from './output.js';
import { proofCommand } from './prove.js';
import { countOf } from './read.js';

interface Json {
  readonly json?: boolean;
}

const eventText = ({ event, hash }: StoredEvent): string => {
  const postings = event.data.postings.map(
    (p) => `    ${p.account}: available ${p.available}, held ${p.held}, used ${p.used}, funded ${p.funded} (${p.unit})`,
  );
  if (event.name === 'MaxCostRaised' || event.name === 'MaxCostSet') {
    const { model, unit, amount, previous } = event.data;
    postings.push(`    ${model}: max_cost ${previous?.toString() ?? 'unknown'} -> ${amount.toString()} (${unit})`);
  }
  const place = `${event.partition.toString()}/${event.position.toString()}`;
  return [`${timeText(event.timeMs)}  ${event.name}  at ${place}, hash ${hash.slice(0, 16)}…`, ...postings].join('\n');
};

const reservation = (tenant: string, id: string, options: Json): Promise<number> =>
  withLedger(async ({ ledger }) => {
    const found = accepted(await ledger.reservation(tenant, id));
    if (options.json) printJson({ reservation: found.reservation, events: found.events });
    else {
      const { state, model, reason } = found.reservation;
      const words = [
        state,
        model === undefined ? '' : `model ${model}`,
        reason === undefined ? '' : `reason ${reason}`,
      ];
      print([`${id}: ${words.filter(Boolean).join(', ')}`, ...found.events.map(eventText)].join('\n'));
    }
    return EXIT.fine;
  });

const oneEvent = (partitionText: string, positionText: string, options: Json): Promise<number> =>
  withLedger(async ({ readEvents }) => {
    const position = countOf(positionText, 'POSITION');
    const [stored] = await readEvents(countOf(partitionText, 'PARTITION'), position - 1, 1);
    if (stored?.event.position !== position)
      throw new RejectedError({ code: 'reservation_not_found', id: `event ${partitionText}/${positionText}` });
    print(options.json ? messageOf(stored) : eventText(stored));
    return EXIT.fine;
  });

const log = (partitionText: string, options: { readonly from: string; readonly limit: string }): Promise<number> =>
  withLedger(async ({ readEvents }) => {
    const partition = countOf(partitionText, 'PARTITION');
    let after = Math.max(0, countOf(options.from, '--from') - 1);
    for (let left = countOf(options.limit, '--limit'); left > 0;) {
      const events = await readEvents(partition, after, Math.min(left, 500));
      for (const stored of events) {
        printLine(JSON.parse(messageOf(stored)));
        after = stored.event.position;
      }
      if (events.length === 0) break;
      left -= events.length;
    }
    return EXIT.fine;
  });

/** The command `audit`: what happened to a reservation, and what stands at a place in the log. */
export const auditCommand = (): Command =>
  new Command('audit')
    .description('what happened: a reservation from its events, an event by its place, a stretch of the log')
    .addHelpText(
      'after',
      '\nExample:\n  holdfast audit reservation acme req-0197\nSee also: holdfast account events, holdfast verify',
    )
    .addCommand(
      new Command('reservation')
        .description('its state and its events')
        .argument('<tenant>')
        .argument('<id>')
        .option('--json', 'print JSON')
        .addHelpText('after', '\nExample:\n  holdfast audit reservation acme req-0197')
        .action((tenant: string, id: string, options: Json) => exiting(() => reservation(tenant, id, options))),
    )
    .addCommand(
      new Command('event')
        .description('one event; with --json byte for byte as it is on Kafka')
        .argument('<partition>')
        .argument('<position>')
        .option('--json', 'print the message')
        .addHelpText('after', '\nExample:\n  holdfast audit event 12 4711 --json')
        .action((partition: string, position: string, options: Json) =>
          exiting(() => oneEvent(partition, position, options)),
        ),
    )
    .addCommand(
      new Command('log')
        .description("a partition's events, one JSON document a line")
        .argument('<partition>')
        .option('--from <position>', 'the first position', '1')
        .option('--limit <n>', 'at most so many', '1000')
        .addHelpText('after', '\nExample:\n  holdfast audit log 12 --from 4700 --limit 20')
        .action((partition: string, options: { from: string; limit: string }) =>
          exiting(() => log(partition, options)),
        ),
    )
    .addCommand(proofCommand());
