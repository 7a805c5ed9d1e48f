import { Argument, Command, Option } from 'commander';
import { tenantOf } from '../../events/index.js';
import type { Account } from '../core/state.js';
import type { AsOf, OpenAccountInput, TrailPage } from '../service/ledger.js';
import { EXIT, WrongUseError, exiting } from './exit.js';
import { accepted, withLedger } from './open.js';
import { print, printJson, printLine, table, timeText, withPoint } from './output.js';
import { amountOf, countOf, timeOf } from './read.js';

interface Json {
  readonly json?: boolean;
}

const accountText = (account: Account): string =>
  table(
    ['account', 'unit', 'available', 'held', 'used', 'funded'],
    [
      [
        account.account,
        account.unit,
        ...[account.available, account.held, account.used, account.funded].map((a) => withPoint(a, account.scale)),
      ],
    ],
  );

interface OpenOptions extends Json {
  readonly unit: string;
  readonly scale: string;
  readonly overdraft: string;
  readonly exempt?: boolean;
}

const open = (name: string, options: OpenOptions): Promise<number> =>
  withLedger(async ({ ledger }) => {
    const input: OpenAccountInput = {
      account: name,
      unit: options.unit,
      scale: countOf(options.scale, '--scale'),
      overdraftLimit: amountOf(options.overdraft, '--overdraft'),
      exempt: options.exempt ?? false,
    };
    const { account, replay } = accepted(await ledger.openAccount(input));
    if (options.json) printJson({ ...account, replay });
    else print(`${accountText(account)}\n${replay ? 'It was open already.' : 'Opened.'}`);
    return EXIT.fine;
  });

interface ShowOptions extends Json {
  readonly at?: string;
  readonly position?: string;
}

const moment = ({ at, position }: ShowOptions): AsOf | undefined => {
  if (at !== undefined && position !== undefined) throw new WrongUseError('--at and --position exclude each other');
  if (at !== undefined) return { timeMs: timeOf(at, '--at') };
  return position === undefined ? undefined : { position: countOf(position, '--position') };
};

const show = (name: string, options: ShowOptions): Promise<number> =>
  withLedger(async ({ ledger }) => {
    const found = accepted(await ledger.account(tenantOf(name), name, moment(options)));
    if (options.json) printJson(found);
    else
      print(`${accountText(found.account)}\nAs of ${timeText(found.asOfMs)}, position ${found.position.toString()}.`);
    return EXIT.fine;
  });

interface EventsOptions extends Json {
  readonly newestFirst?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly limit: string;
}

const PAGE_MAX = 500;

const events = (name: string, options: EventsOptions): Promise<number> =>
  withLedger(async ({ ledger }) => {
    let left = countOf(options.limit, '--limit');
    let after: number | undefined;
    if (!options.json) print('position\ttime\tevent\tamounts after: available, held, used');
    while (left > 0) {
      const page: TrailPage = {
        order: options.newestFirst ? 'newest_first' : 'oldest_first',
        limit: Math.min(left, PAGE_MAX),
        ...(options.from === undefined ? {} : { fromMs: timeOf(options.from, '--from') }),
        ...(options.to === undefined ? {} : { toMs: timeOf(options.to, '--to') }),
        ...(after === undefined ? {} : { after }),
      };
      const slice = accepted(await ledger.trail(tenantOf(name), name, page));
      for (const { stored, balanceAfter } of slice.entries) {
        const { event, hash } = stored;
        if (options.json) printLine({ ...event, time: timeText(event.timeMs), hash, balance_after: balanceAfter });
        else {
          const after3 = [balanceAfter.available, balanceAfter.held, balanceAfter.used].join(', ');
          print([event.position, timeText(event.timeMs), event.name, after3].join('\t'));
        }
      }
      left -= slice.entries.length;
      after = slice.next;
      if (after === undefined) break;
    }
    return EXIT.fine;
  });

interface AdjustOptions extends Json {
  readonly id?: string;
  readonly reason: string;
}

const adjust = (name: string, amount: string, options: AdjustOptions): Promise<number> =>
  withLedger(async ({ ledger }) => {
    const done = accepted(
      await ledger.adjust({
        tenant: tenantOf(name),
        account: name,
        amount: amountOf(amount, 'AMOUNT'),
        reason: options.reason,
        ...(options.id === undefined ? {} : { id: options.id }),
      }),
    );
    if (options.json) printJson(done);
    else
      print(
        `${accountText(done.account)}\n${done.replay ? 'It was adjusted already' : 'Adjusted'}: ${done.funding.id}`,
      );
    return EXIT.fine;
  });

/** The command `account`: open, show, events, adjust. */
export const accountCommand = (): Command =>
  new Command('account')
    .description('accounts: open one, look at its balance now or in the past, follow its events')
    .addHelpText('after', '\nExample:\n  holdfast account open acme --unit USD')
    .addCommand(
      new Command('open')
        .description('open an account')
        .argument('<name>', 'the tenant, or tenant/…')
        .option('--unit <unit>', 'its unit', 'USD')
        .option('--scale <digits>', "decimal places of the unit's smallest part", '6')
        .option('--overdraft <amount>', 'how far below zero a reserve may go', '0')
        .option('--exempt', 'never refuse it; its usage is still recorded')
        .option('--json', 'print JSON')
        .addHelpText('after', '\nExample:\n  holdfast account open acme/team-a --unit TOK --scale 0')
        .action((name: string, options: OpenOptions) => exiting(() => open(name, options))),
    )
    .addCommand(
      new Command('show')
        .description('its balance')
        .argument('<name>')
        .addOption(new Option('--at <time>', 'as it was at a time (RFC 3339)'))
        .addOption(new Option('--position <n>', "as it was at a position of its partition's log"))
        .option('--json', 'print JSON')
        .addHelpText('after', '\nExample:\n  holdfast account show acme --at 2026-01-31T00:00:00Z')
        .action((name: string, options: ShowOptions) => exiting(() => show(name, options))),
    )
    .addCommand(
      new Command('events')
        .description('its events, with the balance after each')
        .argument('<name>')
        .option('--newest-first', 'the other direction')
        .option('--from <time>', 'not before (RFC 3339)')
        .option('--to <time>', 'before (RFC 3339)')
        .option('--limit <n>', 'at most so many', '100')
        .option('--json', 'one JSON document a line')
        .addHelpText('after', '\nExample:\n  holdfast account events acme --newest-first --limit 20')
        .action((name: string, options: EventsOptions) => exiting(() => events(name, options))),
    )
    .addCommand(
      new Command('adjust')
        .description('correct a balance, upward or downward')
        .argument('<name>')
        .addArgument(new Argument('<amount>', 'signed, in the smallest part; put -- before a negative one'))
        .requiredOption('--reason <text>', 'why; it stays with the event')
        .option('--id <id>', 'counts once; made if absent')
        .option('--json', 'print JSON')
        .addHelpText('after', '\nExample:\n  holdfast account adjust --reason "goodwill" acme -- -500')
        .action((name: string, amount: string, options: AdjustOptions) => exiting(() => adjust(name, amount, options))),
    );
