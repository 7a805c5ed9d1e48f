import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BUCKETS, EMPTY_BUCKETS, addPosting, postingOf, sumOf } from '../../../events/index.js';
import type { Posting } from '../../../events/index.js';

const place = { account: 'acme', unit: 'USD' };
const amount = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);

/** The design's postings table (section 1), row by row. */
const rows: readonly [string, Posting, readonly bigint[]][] = [
  ['Recharged 100', postingOf.funding(place, 100n), [100n, 0n, 0n, -100n]],
  ['Reserved 65', postingOf.hold(place, 65n), [-65n, 65n, 0n, 0n]],
  ['Finalized 40, closing a hold of 65', postingOf.close(place, 65n, 40n), [25n, -65n, 40n, 0n]],
  ['Finalized 70, closing a hold of 65', postingOf.close(place, 65n, 70n), [-5n, -65n, 70n, 0n]],
  ['Finalized 40, no hold to close', postingOf.close(place, 0n, 40n), [-40n, 0n, 40n, 0n]],
  ['Refunded', postingOf.giveBack(place, 65n), [65n, -65n, 0n, 0n]],
];

describe('postings', () => {
  test.each(rows)('%s', (_title, posting, buckets) => {
    expect(BUCKETS.map((bucket) => posting[bucket])).toEqual(buckets);
    expect({ account: posting.account, unit: posting.unit }).toEqual(place);
  });

  test('sum to zero, whatever the amounts, and so does any account that adds them up', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('funding', 'hold', 'close', 'giveBack'), amount, amount)),
        (made) => {
          const postings = made.map(([kind, m, a]) => postingOf[kind](place, m, a));
          for (const posting of postings) expect(sumOf(posting)).toBe(0n);
          expect(sumOf(postings.reduce(addPosting, EMPTY_BUCKETS))).toBe(0n);
        },
      ),
    );
  });

  test('of a hold and of what closes it leave nothing held', () => {
    fc.assert(
      fc.property(amount, amount, (m, a) => {
        const held = postingOf.hold(place, m);
        expect(addPosting(held, postingOf.close(place, m, a))).toMatchObject({ available: -a, held: 0n, used: a });
        expect(addPosting(held, postingOf.giveBack(place, m))).toMatchObject({ available: 0n, held: 0n, used: 0n });
      }),
    );
  });
});
