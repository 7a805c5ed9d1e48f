import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runPeriodically } from '../../../src/service/periodic.js';

const never = (error: unknown): never => {
  throw error;
};

describe('a body that runs again and again', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('runs at once, and again after each pause', async () => {
    let runs = 0;
    const body = () => Promise.resolve(void (runs += 1));
    const periodic = runPeriodically(body, { pauseMs: 1000, onError: never });
    expect(runs).toBe(1);
    await vi.advanceTimersByTimeAsync(999);
    expect(runs).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(runs).toBe(2);
    await vi.advanceTimersByTimeAsync(3000);
    expect(runs).toBe(5);
    await periodic.stop();
  });

  test('never runs twice at once, however long it takes: the pause counts from its end', async () => {
    let under = 0;
    let most = 0;
    const periodic = runPeriodically(
      async () => {
        under += 1;
        most = Math.max(most, under);
        await new Promise((resolve) => {
          setTimeout(() => resolve(undefined), 5000);
        });
        under -= 1;
      },
      { pauseMs: 1000, onError: never },
    );
    await vi.advanceTimersByTimeAsync(20_000);
    expect(most).toBe(1);
    const stopped = periodic.stop();
    await vi.advanceTimersByTimeAsync(5000);
    await stopped;
  });

  test('goes on after an error, which is told', async () => {
    const errors: unknown[] = [];
    let runs = 0;
    const fault = new Error('away');
    const periodic = runPeriodically(
      () => {
        runs += 1;
        return runs === 1 ? Promise.reject(fault) : Promise.resolve();
      },
      { pauseMs: 1000, onError: (error) => errors.push(error) },
    );
    await vi.advanceTimersByTimeAsync(1000);
    expect(runs).toBe(2);
    expect(errors).toEqual([fault]);
    await periodic.stop();
  });

  test('woken while it pauses runs at once; woken while it runs, runs once more right after', async () => {
    let runs = 0;
    let end: (() => void) | undefined;
    const periodic = runPeriodically(
      () =>
        new Promise((resolve) => {
          runs += 1;
          end = resolve;
        }),
      { pauseMs: 1000, onError: never },
    );
    periodic.wake();
    periodic.wake();
    end?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(runs).toBe(2);
    end?.();
    await vi.advanceTimersByTimeAsync(10);
    periodic.wake();
    await vi.advanceTimersByTimeAsync(0);
    expect(runs).toBe(3);
    const stopped = periodic.stop();
    end?.();
    await stopped;
  });

  test('stopped while it pauses ends at once; while it runs, is told so and waited for', async () => {
    const idle = runPeriodically(() => Promise.resolve(), { pauseMs: 1_000_000, onError: never });
    await vi.advanceTimersByTimeAsync(1);
    await idle.stop();
    let told = false;
    const busy = runPeriodically(
      (signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            told = true;
            resolve();
          });
        }),
      { pauseMs: 1, onError: never },
    );
    await busy.stop();
    expect(told).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });
});
