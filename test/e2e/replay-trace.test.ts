/** Recorded requests against a real server: every one accounted for, and the sum right to the micro-dollar. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { replayTraceCommand } from '../../src/cli/replay-trace.js';
import { countOverspends } from '../../src/load/overspends.js';
import { generateTrace } from '../../src/traces/index.js';
import { LedgerUnderTest, NO_DRIFT } from './harness.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PRICES = join(ROOT, 'data/prices.json');
const PUBLISHED = ['azure-llm-2023-conv.csv', 'azure-llm-2023-code.csv'].map((file) =>
  join(ROOT, '../shared/data', file),
);
const PUBLISHED_REQUESTS = 19_366 + 8_819;

let ledger: LedgerUnderTest;
beforeAll(async () => {
  ledger = await LedgerUnderTest.start();
});
afterEach(() => {
  process.exitCode = undefined;
});
afterAll(() => ledger.stop());

const replay = async (files: readonly string[]): Promise<Record<string, unknown>> => {
  let out = '';
  const output = { out: (text: string) => (out += text), messages: { write: () => true } };
  const options = ['--url', ledger.server.url, '--key', ledger.adminKey, '--model', 'gpt-4o-mini', '--json'];
  await replayTraceCommand(output).parseAsync([...files, ...options], { from: 'user' });
  expect(process.exitCode).toBe(0);
  return JSON.parse(out) as Record<string, unknown>;
};

/** What a script of ten lines makes of the same files; nothing, where there is no Python. */
const sumInPython = (files: readonly string[]): string | undefined => {
  const args = [join(ROOT, 'scripts/sum_trace.py'), PRICES, 'gpt-4o-mini', ...files];
  const { status, stdout } = spawnSync('python3', args, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
};

const expectExact = async (files: readonly string[], requests: number): Promise<void> => {
  const report = await replay(files);
  expect(report).toMatchObject({ requests, finalized: requests, refused: 0, rejected: 0, unknown: 0, exact: true });
  expect(report['ledger_used']).toBe(sumInPython(files) ?? report['used']);
  expect(await countOverspends(ledger.holdfast.reading.reader)).toMatchObject({ overspends: 0 });
  expect(await ledger.holdfast.verify(() => undefined)).toMatchObject(NO_DRIFT);
};

describe('a replayed trace', () => {
  test('of our own making', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-replay-'));
    const rows = [...generateTrace({ seed: 5, requests: 500 })].map(
      ({ offsetMs, inputTokens, outputTokens }) =>
        `${new Date(offsetMs).toISOString().replace('T', ' ').replace('Z', '')},${inputTokens},${outputTokens}`,
    );
    const file = join(folder, 'trace.csv');
    await writeFile(file, ['TIMESTAMP,ContextTokens,GeneratedTokens', ...rows, ''].join('\n'));
    await expectExact([file], 500);
    await rm(folder, { recursive: true });
  });

  // Skipped without ../shared/data: the published traces are not part of this repository.
  test.skipIf(!PUBLISHED.every((file) => existsSync(file)))(
    'as published, both files (needs ../shared/data)',
    () => expectExact(PUBLISHED, PUBLISHED_REQUESTS),
    900_000,
  );
});
