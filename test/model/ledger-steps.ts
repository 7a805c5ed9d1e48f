/** Random steps of the whole ledger: those of the Redis side, and what can befall Postgres, the process and a rebuild. */
import fc from 'fast-check';
import type { Command, Reserve } from '../../src/core/command.js';
import { BREAKS } from './broken-appends.js';
import type { Break } from './broken-appends.js';
import { otherCommands, reserves } from './random-commands.js';
import { steps } from './random-steps.js';
import type { Step } from './random-steps.js';

export type LedgerStep =
  | Step
  /** Commands that arrive at once: one group, one transaction. */
  | { readonly do: 'together'; readonly commands: readonly Command[] }
  /** An append whose connection breaks, and the same command again. A reserve goes through Redis when `held`. */
  | { readonly do: 'broken'; readonly how: Break; readonly held: boolean; readonly command: Command }
  /** A hold whose process dies, and then the same id with other contents, past Redis: its event replaces the hold. */
  | { readonly do: 'raced'; readonly held: Reserve; readonly appended: Reserve }
  /** The process ends and another begins: it knows nothing of what was under way. */
  | { readonly do: 'restart' }
  | { readonly do: 'rebuild_from_events' }
  /** A rebuild that is held up before its nth call of Redis, and goes on later, overtaken or not. */
  | { readonly do: 'begin_rebuild'; readonly calls: number; readonly replay: boolean }
  | { readonly do: 'end_rebuild' };

const commands: fc.Arbitrary<Command> = fc.oneof(reserves, otherCommands);

export const ledgerSteps: fc.Arbitrary<LedgerStep> = fc.oneof(
  { weight: 48, arbitrary: steps },
  {
    weight: 4,
    arbitrary: fc
      .array(commands, { minLength: 2, maxLength: 6 })
      .map((together): LedgerStep => ({ do: 'together', commands: together })),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...BREAKS), fc.boolean(), commands)
      .map(([how, held, command]): LedgerStep => ({ do: 'broken', how, held, command })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(reserves, reserves)
      .map(([held, other]): LedgerStep => ({ do: 'raced', held, appended: { ...other, id: held.id } })),
  },
  { weight: 1, arbitrary: fc.constant<LedgerStep>({ do: 'restart' }) },
  { weight: 1, arbitrary: fc.constant<LedgerStep>({ do: 'rebuild_from_events' }) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat(6), fc.boolean())
      .map(([calls, replay]): LedgerStep => ({ do: 'begin_rebuild', calls, replay })),
  },
  { weight: 2, arbitrary: fc.constant<LedgerStep>({ do: 'end_rebuild' }) },
);

/** A value in one line, as JavaScript would be typed: amounts as 5n, maps as their entries. */
const inOneLine = (value: unknown): string => {
  if (typeof value === 'bigint') return `${value.toString()}n`;
  if (value instanceof Map) return inOneLine(Object.fromEntries(value));
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([name, inner]) => `${name}: ${inOneLine(inner)}`)
      .join(', ')} }`;
  return JSON.stringify(value);
};

/** Steps as a person reads them, one a line. */
export const inLines = (taken: readonly LedgerStep[]): string =>
  taken
    .map(({ do: what, ...rest }, index) =>
      `  ${(index + 1).toString()}. ${what} ${Object.entries(rest)
        .map(([name, value]) => `${name}=${inOneLine(value)}`)
        .join(' ')}`.trimEnd(),
    )
    .join('\n');
