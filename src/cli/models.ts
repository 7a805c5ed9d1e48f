import { Command } from 'commander';
import { maxCostKey } from '../core/state.js';
import type { MaxCost } from '../core/state.js';
import { loadPrices, maxCostOf } from '../pricing/index.js';
import type { Holdfast } from '../compose.js';
import { EXIT, WrongUseError, exiting } from './exit.js';
import { accepted, withLedger } from './open.js';
import { print, printJson, table } from './output.js';
import { unitAmountsOf } from './read.js';

interface Json {
  readonly json?: boolean;
}

const show = (maxCosts: readonly MaxCost[], json: boolean | undefined): number => {
  if (json) printJson(maxCosts);
  else if (maxCosts.length === 0) print('No max_cost is known.');
  else
    print(
      table(
        ['model', 'unit', 'max_cost', 'revision', 'a raise waits'],
        maxCosts.map((m) => [m.model, m.unit, m.amount.toString(), m.revision.toString(), m.pending?.toString() ?? '']),
      ),
    );
  return EXIT.fine;
};

const set = (model: string, amounts: readonly string[], options: Json): Promise<number> =>
  withLedger(async ({ ledger }) => {
    const done = accepted(await ledger.setMaxCost({ model, amounts: unitAmountsOf(amounts, 'AMOUNT') }));
    return show(done.maxCosts, options.json);
  });

interface SeedOptions extends Json {
  readonly prices?: string;
  readonly fromUsage?: boolean;
  readonly unit: string;
  readonly replace?: boolean;
}

/** The most that one request of each model can cost by the price file: its largest input and its largest output. */
const fromPrices = async (file: string, unit: string): Promise<Map<string, [string, ReadonlyMap<string, bigint>]>> => {
  const book = await loadPrices(file);
  const found = new Map<string, [string, ReadonlyMap<string, bigint>]>();
  for (const model of book.models) {
    const price = book.priceOf(model);
    if (price.maxInputTokens === undefined || price.maxOutputTokens === undefined) continue;
    found.set(model, [model, new Map([[unit, maxCostOf(price, Number(price.maxInputTokens))]])]);
  }
  return found;
};

/** The most that one request of each model has cost so far, by the journal. */
const fromUsage = async ({ history }: Holdfast): Promise<Map<string, [string, ReadonlyMap<string, bigint>]>> => {
  const found = new Map<string, [string, Map<string, bigint>]>();
  for await (const { event } of history()) {
    if (event.name !== 'Finalized' || event.data.model === undefined) continue;
    const { model } = event.data;
    const [, amounts] = found.get(model) ?? [model, new Map<string, bigint>()];
    for (const { unit, used } of event.data.postings) if (used > (amounts.get(unit) ?? 0n)) amounts.set(unit, used);
    found.set(model, [model, amounts]);
  }
  return found;
};

const seed = (options: SeedOptions): Promise<number> =>
  withLedger(async (holdfast) => {
    if ((options.prices === undefined) === (options.fromUsage !== true))
      throw new WrongUseError('give one of --prices FILE and --from-usage');
    const found =
      options.prices === undefined ? await fromUsage(holdfast) : await fromPrices(options.prices, options.unit);
    const known = new Set((await holdfast.ledger.models()).map((m) => maxCostKey(m.model, m.unit)));
    const changed: MaxCost[] = [];
    for (const [model, given] of found.values()) {
      const amounts = new Map(
        [...given].filter(([unit]) => options.replace === true || !known.has(maxCostKey(model, unit))),
      );
      if (amounts.size > 0) changed.push(...accepted(await holdfast.ledger.setMaxCost({ model, amounts })).maxCosts);
    }
    return show(changed, options.json);
  });

/** The command `models`: list, show, set, seed. */
export const modelsCommand = (): Command =>
  new Command('models')
    .description("models' max_cost: the most that one request can cost")
    .addHelpText('after', '\nExample:\n  holdfast models set gpt-4o USD=650000')
    .addCommand(
      new Command('list')
        .description('every model that has one')
        .option('--json', 'print JSON')
        .addHelpText('after', '\nExample:\n  holdfast models list')
        .action((options: Json) =>
          exiting(() => withLedger(async ({ ledger }) => show(await ledger.models(), options.json))),
        ),
    )
    .addCommand(
      new Command('show')
        .description('one model')
        .argument('<model>')
        .option('--json', 'print JSON')
        .addHelpText('after', '\nExample:\n  holdfast models show gpt-4o')
        .action((model: string, options: Json) =>
          exiting(() => withLedger(async ({ ledger }) => show(await ledger.maxCosts(model), options.json))),
        ),
    )
    .addCommand(
      new Command('set')
        .description('set it, upward or downward; answers a raise that waits')
        .argument('<model>')
        .argument('<amounts...>', 'UNIT=AMOUNT in the smallest part')
        .option('--json', 'print JSON')
        .addHelpText('after', '\nExample:\n  holdfast models set gpt-4o USD=650000 TOK=144384')
        .action((model: string, amounts: string[], options: Json) => exiting(() => set(model, amounts, options))),
    )
    .addCommand(
      new Command('seed')
        .description('set it for many models at once')
        .option('--prices <file>', "from a price file in LiteLLM's format: largest input and largest output")
        .option('--from-usage', 'from the journal: the most that each model has cost so far')
        .option('--unit <unit>', 'the unit of the prices', 'USD')
        .option('--replace', 'also where one is known; otherwise those stay')
        .option('--json', 'print JSON')
        .addHelpText('after', '\nExample:\n  holdfast models seed --from-usage')
        .action((options: SeedOptions) => exiting(() => seed(options))),
    );
