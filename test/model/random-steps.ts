/** Random steps: commands, and what can befall Redis between them. */
import fc from 'fast-check';
import type { Command, Reserve } from '../../src/core/command.js';
import { otherCommands, reserves } from './random-commands.js';

export type Step =
  /** The whole flow of a reserve: hold, append, settle or release. */
  | { readonly do: 'reserve'; readonly command: Reserve }
  /** An earlier reserve once more, as a client that lost the answer sends it. */
  | { readonly do: 'reserve_again'; readonly nth: number }
  /** A reserve whose process dies after the hold: the speculation stays. */
  | { readonly do: 'hold'; readonly command: Reserve }
  /** A reserve that goes to the journal alone: Redis was away, or not asked. */
  | { readonly do: 'append'; readonly command: Command }
  /** Applies up to `count` events, beginning up to `back` before the checkpoint. */
  | { readonly do: 'apply'; readonly back: number; readonly count: number }
  /** The sweeper gives back what nobody answered for. */
  | { readonly do: 'sweep' }
  | { readonly do: 'pass_time'; readonly seconds: number }
  | { readonly do: 'flush_scripts' }
  | { readonly do: 'rebuild' }
  /** Redis as it was at the last snapshot comes back under the same run id. */
  | { readonly do: 'snapshot' }
  | { readonly do: 'roll_back' }
  /** Redis is emptied. */
  | { readonly do: 'lose_all' };

export const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 14, arbitrary: reserves.map((command): Step => ({ do: 'reserve', command })) },
  { weight: 4, arbitrary: fc.nat(20).map((nth): Step => ({ do: 'reserve_again', nth })) },
  { weight: 4, arbitrary: reserves.map((command): Step => ({ do: 'hold', command })) },
  { weight: 2, arbitrary: reserves.map((command): Step => ({ do: 'append', command })) },
  { weight: 14, arbitrary: otherCommands.map((command): Step => ({ do: 'append', command })) },
  {
    weight: 12,
    arbitrary: fc
      .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 12 }))
      .map(([back, count]): Step => ({ do: 'apply', back, count })),
  },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'sweep' }) },
  { weight: 1, arbitrary: fc.constantFrom(30, 700).map((seconds): Step => ({ do: 'pass_time', seconds })) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'flush_scripts' }) },
  { weight: 3, arbitrary: fc.constant<Step>({ do: 'rebuild' }) },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'snapshot' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'roll_back' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'lose_all' }) },
);
