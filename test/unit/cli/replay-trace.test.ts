import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { replayTraceCommand } from '../../../src/cli/replay-trace.js';
import { generateTrace } from '../../../src/traces/index.js';
import { startMemoryServer } from '../load/memory-server.js';
import type { Fault } from '../load/memory-server.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const REQUESTS = 300;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-replay-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
  process.exitCode = undefined;
});

/** Two files in the published format, with times of their own. */
const writeTraces = async (): Promise<string[]> => {
  const rows = [...generateTrace({ seed: 3, requests: REQUESTS })].map(({ offsetMs, inputTokens, outputTokens }) => {
    const time = new Date(1_700_000_000_000 + offsetMs).toISOString().replace('T', ' ').replace('Z', '0000');
    return `${time},${inputTokens},${outputTokens}`;
  });
  const files = [rows.slice(0, 100), rows.slice(100)].map((part, i) => ({ name: join(folder, `${i}.csv`), part }));
  for (const { name, part } of files)
    await writeFile(name, ['TIMESTAMP,ContextTokens,GeneratedTokens', ...part, ''].join('\n'));
  return files.map(({ name }) => name);
};

const replay = async (
  args: readonly string[],
  faultOf?: (request: number, path: string) => Fault,
): Promise<{ out: string; messages: string; exitCode: unknown }> => {
  const server = await startMemoryServer(faultOf);
  let out = '';
  let messages = '';
  const command = replayTraceCommand({
    out: (text) => (out += text),
    messages: { write: (text) => (messages += text) },
  });
  await command.parseAsync([...args, '--url', server.baseUrl, '--key', 'k'], { from: 'user' });
  await server.close();
  return { out, messages, exitCode: process.exitCode };
};

describe('replay-trace', () => {
  test('accounts for every request of all files; the sum is that of a script of ten lines', async (context) => {
    const files = await writeTraces();
    const { out, exitCode } = await replay([...files, '--model', 'gpt-4o-mini', '--accounts', '7', '--json']);
    const report = JSON.parse(out) as Record<string, unknown>;
    expect(report).toMatchObject({
      requests: REQUESTS,
      finalized: REQUESTS,
      refused: 0,
      rejected: 0,
      unknown: 0,
      exact: true,
    });
    expect(report['ledger_used']).toBe(report['used']);
    expect(exitCode).toBe(0);
    if (spawnSync('python3', ['--version']).status !== 0) context.skip('python3 is not on the PATH');
    const script = [join(ROOT, 'scripts/sum_trace.py'), join(ROOT, 'data/prices.json'), 'gpt-4o-mini', ...files];
    expect(spawnSync('python3', script, { encoding: 'utf8' }).stdout.trim()).toBe(report['ledger_used']);
  });

  test('says it in words for people', async () => {
    const { out } = await replay(await writeTraces());
    expect(out).toContain(`requests ${REQUESTS}: finalized ${REQUESTS}, refused 0, rejected 0, unknown 0`);
    expect(out).toMatch(/used, says the ledger: \d+ micro-dollars \(\$\d+\.\d{6}\)/);
    expect(out.trim().split('\n').at(-1)).toBe('every request is accounted for, and the sums are equal');
  });

  test('exits with 1 when a request was not finalized', async () => {
    const { out, exitCode } = await replay([...(await writeTraces()), '--give-up', '0'], (_n, path) =>
      path.endsWith('-17/finalize') ? 'cut_before' : 'none',
    );
    expect(out).toContain('unknown 1');
    expect(exitCode).toBe(1);
  });

  test('exits with 1 when the ledger’s sum is off by a millionth of a dollar', async () => {
    let balances = 0;
    const { out, exitCode } = await replay(await writeTraces(), (_n, path) =>
      /accounts\/[^/]+$/.test(path) && (balances += 1) === 1 ? 'one_too_much' : 'none',
    );
    expect(out).toContain('the sums differ');
    expect(exitCode).toBe(1);
  });

  test.each([
    ['a file that is none', ['/nowhere.csv'], /nowhere\.csv/],
    ['a model without a price', ['x.csv', '--model', 'gtp'], /no model gtp/],
    ['a price file that is none', ['x.csv', '--prices', '/nowhere.json'], /nowhere\.json/],
  ])('exits with 2 and names %s', async (_what, args, message) => {
    const { messages, exitCode } = await replay(args);
    expect(messages).toMatch(message);
    expect(exitCode).toBe(2);
  });
});
