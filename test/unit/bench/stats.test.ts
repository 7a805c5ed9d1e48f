import { describe, expect, test } from 'vitest';
import { median, spreadOf, spreadText } from '../../../bench/stats.js';

describe('figures over rounds', () => {
  test.each([
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
    [[7], 7],
    [[], Number.NaN],
  ])('the median of %j is %d', (values, middle) => {
    expect(median(values)).toBe(middle);
  });

  test('are told with the worst and the best', () => {
    expect(spreadText(spreadOf([13_400, 12_900.4, 13_800]))).toBe('13,400 (12,900 to 13,800)');
    expect(spreadText(spreadOf([1.25, 2]), 1)).toBe('1.6 (1.3 to 2.0)');
  });
});
