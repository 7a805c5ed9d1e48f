import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ownCpuUs, parseStat, treeCpuUs } from '../../../bench/cpu.js';
import { drive } from '../../../bench/drive.js';
import { summarize, tableOf } from '../../../bench/table.js';

describe('CPU time of a process tree', () => {
  test('is read whatever the program is called', () => {
    const fields = 'S 7 1 1 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 99';
    expect(parseStat(`42 (postgres: a (b) c) ${fields}`)).toEqual({ parent: 7, ticks: 100 });
    expect(parseStat('42 (cut short) S 7')).toBeUndefined();
  });

  test('counts children that run and children that have ended', async () => {
    const before = treeCpuUs(process.pid);
    const burn =
      'const t = Date.now(); while (Date.now() - t < 300); process.stdout.write("done"); setInterval(() => 0, 1e6)';
    const child = spawn(process.execPath, ['-e', burn], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(child.stdout, 'data');
    const during = treeCpuUs(process.pid);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const after = treeCpuUs(process.pid);
    if (before === undefined || during === undefined || after === undefined) return;
    expect(during - before).toBeGreaterThan(50_000);
    expect(after).toBeGreaterThanOrEqual(during);
  });

  test('is not told of a process that is not there', () => {
    expect(treeCpuUs(2 ** 22 + 1)).toBeUndefined();
    expect(ownCpuUs()).toBeGreaterThan(0);
  });
});

describe('driving', () => {
  test('keeps so many under way, and counts those of the measured time only', async () => {
    let underWay = 0;
    let most = 0;
    let settled = 0;
    let us = 0;
    const measured = await drive(
      {
        name: 'one',
        eventsPerOperation: 2,
        meters: { node: () => us, redis: () => undefined },
        operation: async () => {
          most = Math.max(most, (underWay += 1));
          us += 20;
          await setImmediate();
          underWay -= 1;
        },
        settled: () => Promise.resolve(void (settled += 1)),
      },
      { inFlight: 5, warmupMs: 20, durationMs: 50 },
    );
    expect(most).toBe(5);
    expect(settled).toBe(2);
    expect(measured.operations).toBe(measured.latency.count);
    expect(measured.cpu).toEqual({ node: 10 });
  });

  test('ends with the first operation that is not granted', async () => {
    const subject = {
      name: 'no',
      eventsPerOperation: 1,
      meters: {},
      operation: () => Promise.reject(new Error('refused')),
    };
    await expect(drive(subject, { inFlight: 2, warmupMs: 10, durationMs: 10 })).rejects.toThrow('refused');
  });
});

describe('the table', () => {
  const round = (name: string, perSecond: number, cpu: Record<string, number>) => ({
    name,
    operations: 1,
    eventsPerOperation: 2,
    operationsPerSecond: perSecond,
    latency: { count: 1, p50_ms: 1, p99_ms: 2, max_ms: 3 },
    cpu,
  });

  test('has each subject once, with the median of its rounds, and what all rounds could tell of CPU', () => {
    const summaries = summarize([
      round('a', 100, { node: 50, redis: 5 }),
      round('b', 10, {}),
      round('a', 300, { node: 70 }),
      round('a', 200, { node: 60, redis: 7 }),
    ]);
    expect(summaries.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(summaries[0]).toMatchObject({
      operations_per_second: { median: 200, min: 100, max: 300 },
      cpu_us_per_event: { node: { median: 60 } },
    });
    expect(summaries[0]?.cpu_us_per_event).not.toHaveProperty('redis');
    expect(tableOf(summaries)).toContain('200 (100 to 300)');
  });
});
