import { describe, expect, test } from 'vitest';
import { generateTrace } from '../../../src/traces/index.js';

const trace = [...generateTrace({ seed: 1, requests: 50_000 })];
const quantile = (of: 'inputTokens' | 'outputTokens', share: number): number => {
  const sorted = trace.map((request) => request[of]).sort((a, b) => a - b);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
};

describe('a generated trace', () => {
  test('is the same for the same seed, and another for another', () => {
    expect([...generateTrace({ seed: 1, requests: 1_000 })]).toEqual(trace.slice(0, 1_000));
    expect([...generateTrace({ seed: 2, requests: 1_000 })]).not.toEqual(trace.slice(0, 1_000));
  });

  // Quantiles of the two published files put together.
  test.each([
    ['inputTokens', 0.1, 203],
    ['inputTokens', 0.5, 1_046],
    ['inputTokens', 0.9, 4_073],
    ['inputTokens', 0.99, 7_435],
    ['outputTokens', 0.1, 10],
    ['outputTokens', 0.5, 90],
    ['outputTokens', 0.9, 413],
    ['outputTokens', 0.99, 581],
  ] as const)('has %s at the %d quantile like the published traces', (of, share, published) => {
    expect(quantile(of, share) / published).toBeGreaterThan(0.85);
    expect(quantile(of, share) / published).toBeLessThan(1.15);
  });

  test('comes at their rate, in order, with sizes within theirs', () => {
    expect(trace.every((r, i) => r.offsetMs >= (trace[i - 1]?.offsetMs ?? 0))).toBe(true);
    expect((trace.at(-1)?.offsetMs ?? 0) / 50_000).toBeCloseTo(127.7, -1);
    expect(trace.every((r) => r.inputTokens >= 2 && r.inputTokens <= 14_050)).toBe(true);
    expect(trace.every((r) => r.outputTokens >= 6 && r.outputTokens <= 1_899)).toBe(true);
  });

  test.each([0, -1, 1.5, Number.NaN])('of %d requests is refused', (requests) => {
    expect(() => [...generateTrace({ seed: 1, requests })]).toThrow(/1 to 100000000 requests/);
  });
});
