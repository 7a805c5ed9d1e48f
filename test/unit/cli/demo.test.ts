import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { demoCommand } from '../../../src/cli/demo.js';
import type { BringUpOptions, DemoTarget, DriftCount } from '../../../src/cli/demo-ports.js';
import { StackError } from '../../../src/stack/index.js';
import { startMemoryServer } from '../load/memory-server.js';
import type { MemoryServer } from '../load/memory-server.js';

const NO_DRIFT: DriftCount = { postgres: 0, kafka: 0, redis: 0 };

/** A stack that exists in this test only. It notes what the demo does to it. */
class FakeStack {
  stopped = 0;
  emptied = 0;
  keep: boolean | undefined;
  #readiness = [0, 1, 4];

  constructor(
    private readonly server: MemoryServer,
    private readonly more: Partial<DemoTarget>,
  ) {}

  bringUp({ keep }: BringUpOptions): Promise<DemoTarget> {
    this.keep = keep;
    const { baseUrl, events } = this.server;
    return Promise.resolve({
      baseUrl,
      key: 'hf_secret',
      places: ['PostgreSQL: here'],
      log: {
        heads: () => Promise.resolve([{ partition: 0, position: events.length, hash: '' }]),
        read: (_partition: number, after: number, limit: number) => Promise.resolve(events.slice(after, after + limit)),
      },
      verify: () => Promise.resolve(NO_DRIFT),
      emptyRedis: () => {
        this.emptied += 1;
        return Promise.resolve({ keys: 42 });
      },
      readiness: () => Promise.resolve({ ready: this.#readiness.shift() ?? 4, partitions: 4 }),
      stop: () => {
        this.stopped += 1;
        return Promise.resolve();
      },
      ...this.more,
    });
  }
}

const servers: MemoryServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  process.exitCode = undefined;
});

const demo = async (args: readonly string[], more: Partial<DemoTarget> = {}) => {
  const server = await startMemoryServer();
  servers.push(server);
  const stack = new FakeStack(server, more);
  let out = '';
  let messages = '';
  const output = { out: (text: string) => (out += text), messages: { write: (text: string) => (messages += text) } };
  const command = demoCommand(stack, output);
  await command.parseAsync(['--requests', '400', '--accounts', '30', ...args], { from: 'user' });
  const lines = out.trim().split('\n');
  return { stack, server, out, messages, lines, lastLine: lines.at(-1), exitCode: process.exitCode };
};

describe('the demo', () => {
  test('ends with what was counted, and 0 when nothing is wrong', async () => {
    const { lastLine, exitCode, stack } = await demo([]);
    expect(lastLine).toBe('overspends 0, drift 0');
    expect(exitCode).toBe(0);
    expect(stack.stopped).toBe(1);
  });

  test('plays every request: charged, refunded, refused; and customers recharge', async () => {
    const { server, out } = await demo(['--json']);
    const { parts } = JSON.parse(out) as { parts: { tally: Record<string, number> }[] };
    const sum = (key: string): number => parts.reduce((total, { tally }) => total + (tally[key] ?? 0), 0);
    const count = (name: string): number => server.events.filter(({ event }) => event.name === name).length;
    expect(sum('requests')).toBe(400);
    expect(sum('finalized')).toBe(count('Finalized'));
    expect(sum('refunded')).toBe(count('Refunded'));
    expect(sum('refused')).toBeGreaterThan(0);
    expect(sum('recharges')).toBeGreaterThan(0);
    expect(sum('finalized') + sum('refunded') + sum('refused')).toBe(400);
    expect(count('AccountOpened')).toBe(30);
  });

  test('shows a table, empties Redis while requests go on, and says how the balances come back', async () => {
    const { out, stack } = await demo([]);
    for (const row of [
      'requests',
      'refused: out of quota',
      'reserve, P99',
      'finalize, P50',
      'overspends',
      'drift in Kafka',
    ])
      expect(out).toContain(row);
    expect(stack.emptied).toBe(1);
    expect(out).toMatch(
      /Redis is empty: 42 keys are gone[\s\S]*answers for 0 of 4[\s\S]*answers for 1 of 4[\s\S]*answers for 4 of 4 partitions/,
    );
    expect(out).toContain('What to try next');
  });

  test('exits with 1 on drift, also when it healed before the end', async () => {
    const seen = [{ ...NO_DRIFT, redis: 2 }, NO_DRIFT];
    const { lastLine, exitCode } = await demo([], { verify: () => Promise.resolve(seen.shift() ?? NO_DRIFT) });
    expect(lastLine).toBe('overspends 0, drift 2');
    expect(exitCode).toBe(1);
  });

  test('says why it leaves a Redis alone that is not its own', async () => {
    const { out, exitCode } = await demo([], {
      emptyRedis: () => Promise.resolve({ refused: 'it may hold other things' }),
    });
    expect(out).toContain('Not done: it may hold other things');
    expect(exitCode).toBe(0);
  });

  test('shows the key only when the server is kept', async () => {
    const kept = await demo(['--keep']);
    expect(kept.stack.keep).toBe(true);
    expect(kept.out).toContain(`HOLDFAST_URL=${kept.server.baseUrl} HOLDFAST_KEY=hf_secret`);
    expect((await demo([])).out).not.toContain('hf_secret');
  });

  test('plays a trace from a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-demo-'));
    const rows = Array.from({ length: 50 }, (_unused, i) => `2023-11-16 18:15:46.${100 + i},${100 + i},10`);
    await writeFile(join(folder, 't.csv'), ['TIMESTAMP,ContextTokens,GeneratedTokens', ...rows].join('\n'));
    const { out } = await demo(['--trace', join(folder, 't.csv'), '--speed', '1', '--json']);
    await rm(folder, { recursive: true });
    const { parts } = JSON.parse(out) as { parts: { tally: { requests: number } }[] };
    expect(parts.map(({ tally }) => tally.requests)).toEqual([38, 12]);
  });

  test.each([
    ['a trace that is not there', ['--trace', '/nowhere.csv'], /nowhere/],
    ['prices that are not there', ['--prices', '/nowhere.json'], /nowhere/],
  ])('exits with 2 for %s, and starts nothing', async (_what, args, message) => {
    const { messages, exitCode, stack } = await demo(args);
    expect(messages).toMatch(message);
    expect(exitCode).toBe(2);
    expect(stack.keep).toBeUndefined();
  });

  test('stops what it started when something fails', async () => {
    const failure = new StackError('service_unavailable', 'Kafka is gone');
    const { messages, exitCode, stack } = await demo([], { verify: () => Promise.reject(failure) });
    expect(messages).toContain('Kafka is gone');
    expect(exitCode).toBe(3);
    expect(stack.stopped).toBe(1);
  });
});
