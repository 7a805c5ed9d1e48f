import { expect, test } from 'vitest';
import { HeldRatios } from '../../../src/metrics/index.js';

test('held over available, by unit, over the partitions as they were last seen', () => {
  const ratios = new HeldRatios();
  expect(ratios.take(0, [{ unit: 'USD', available: 100n, held: 25n }])).toEqual(new Map([['USD', 0.25]]));
  const two = [
    { unit: 'USD', available: 100n, held: 75n },
    { unit: 'TOK', available: 2n ** 70n, held: 2n ** 69n },
  ];
  expect(ratios.take(1, two)).toEqual(new Map([['USD', 0.5], ['TOK', 0.5]])); // prettier-ignore
  expect(ratios.take(0, [])).toEqual(new Map([['USD', 0.75], ['TOK', 0.5]])); // prettier-ignore
  expect(ratios.take(1, [{ unit: 'USD', available: 0n, held: 5n }])).toEqual(new Map());
});
