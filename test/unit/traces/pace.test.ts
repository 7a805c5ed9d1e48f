import { describe, expect, test } from 'vitest';
import { paced, parseSpeed } from '../../../src/traces/index.js';
import type { Clock, Speed } from '../../../src/traces/index.js';

const requests = [0, 1_000, 1_500, 200_000].map((offsetMs) => ({ offsetMs, inputTokens: 1, outputTokens: 1 }));

/** A clock that moves only when somebody waits, or when told. */
const handClock = (): Clock & { advance(ms: number): void } => {
  let nowMs = 5;
  return {
    nowMs: () => nowMs,
    sleep: (ms) => {
      nowMs += ms;
      return Promise.resolve();
    },
    advance: (ms) => {
      nowMs += ms;
    },
  };
};

const arrivals = async (speed: Speed, clock = handClock(), busyMs = 0): Promise<number[]> => {
  const startedMs = clock.nowMs();
  const times: number[] = [];
  for await (const request of paced(requests, speed, undefined, clock)) {
    expect(request).toBe(requests[times.length]);
    times.push(clock.nowMs() - startedMs);
    clock.advance(busyMs);
  }
  return times;
};

describe('the pace of a trace', () => {
  test('is its own, a multiple of it, or as fast as can be', async () => {
    expect(await arrivals(1)).toEqual([0, 1_000, 1_500, 200_000]);
    expect(await arrivals(10)).toEqual([0, 100, 150, 20_000]);
    expect(await arrivals('max')).toEqual([0, 0, 0, 0]);
  });

  test('is caught up with after a slow request', async () => {
    expect(await arrivals(1, handClock(), 1_200)).toEqual([0, 1_200, 2_400, 200_000]);
  });

  test('ends when it is told to, also while it waits', async () => {
    const stop = new AbortController();
    const taken: number[] = [];
    for await (const { offsetMs } of paced(requests, 1, stop.signal)) {
      taken.push(offsetMs);
      setImmediate(() => stop.abort());
    }
    expect(taken).toEqual([0]);
  });

  test.each([
    ['max', 'max'],
    ['1', 1],
    ['20x', 20],
    ['0.5', 0.5],
  ] as const)('reads %s', (text, speed) => {
    expect(parseSpeed(text)).toBe(speed);
  });

  test.each(['', '0', '-1', 'fast', '1e3', 'Infinity'])('refuses %j', (text) => {
    expect(() => parseSpeed(text)).toThrow(/is no speed/);
  });
});
