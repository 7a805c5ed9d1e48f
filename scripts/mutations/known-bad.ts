/** Designs that were tried and lose money, as small changes of the code (design: the numbers behind the daggers). */
import { replacing } from './change.js';
import type { Change } from './change.js';

export const KNOWN_BAD: readonly Change[] = [
  {
    name: 'apply marks a speculation instead of giving back what it took',
    file: 'lua/include/fold.lua',
    change: replacing("if spec.taken == taken then return 'same' end", "if taken then return 'same' end"),
  },
  {
    name: 'no guard in the journal: a reserve needs no balance there',
    file: 'src/core/decide/reserve.ts',
    change: replacing('if (refusal !== undefined) return reject(refusal);', ''),
  },
  {
    name: 'a rebuild without its token',
    file: 'lua/include/fenced.lua',
    change: replacing('return known[1] == token and (step == nil or known[2] == step)', 'return true'),
  },
  {
    name: 'a rebuild that leaves the checkpoint while it works',
    file: 'lua/rebuild_begin.lua',
    change: replacing("redis.call('HDEL', meta, 'cp', 'h')", ''),
  },
  {
    name: 'a rebuild that deducts speculations whose events are in the rows',
    file: 'src/recovery/rebuild.ts',
    change: replacing('await dropKnown(rebuild, snapshot);', ''),
  },
  {
    name: 'a hold that trusts a Redis which went back',
    file: 'lua/include/unready.lua',
    change: replacing("return 'went_back'", 'return nil'),
  },
  {
    name: 'a commit whose answer was lost is taken for one that did not happen',
    file: 'src/journal/outcome.ts',
    change: replacing('return ours > 0;', 'return false;'),
  },
  {
    name: 'the trail holds the balance before an event',
    file: 'src/journal/decided.ts',
    change: replacing('const after = addPosting(before, posting);', 'const after = before;'),
  },
];
