import { describe, expect, test } from 'vitest';
import { BoundedLabel, TopNames } from '../../../src/metrics/bounded.js';

test('a label keeps the first values and calls the rest other', () => {
  const label = new BoundedLabel(2);
  expect(['a', 'b', 'c', 'a', 'c'].map((value) => label.of(value))).toEqual(['a', 'b', 'other', 'a', 'other']);
});

describe('the busiest names', () => {
  test('are found among many more than are tracked, and never counted too low', () => {
    const top = new TopNames(2);
    for (let i = 0; i < 10_000; i++) {
      top.add(`quiet-${i % 997}`);
      if (i % 5 === 0) top.add('loud');
      if (i % 10 === 0) top.add('less loud');
    }
    const [first, second, ...rest] = top.top();
    expect(rest).toEqual([]);
    expect([first?.name, second?.name]).toEqual(['loud', 'less loud']);
    expect(first?.count).toBeGreaterThanOrEqual(2000);
    expect(second?.count).toBeGreaterThanOrEqual(1000);
  });

  test('are exact while there are few', () => {
    const top = new TopNames(3);
    for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) top.add(name);
    expect(top.top()).toEqual([
      { name: 'a', count: 3 },
      { name: 'b', count: 2 },
      { name: 'c', count: 1 },
    ]);
  });
});
