import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkCheckpoints } from '../../src/compose/prove.js';
import type { Config } from '../../src/config/settings.js';
import { checkpointerState, checkpointsIn, withCheckpoints } from '../integration/checkpoints-setting.js';
import { LedgerUnderFault, dropLedger, newLedgerConfig, sharedServices, until } from './ledger-under-fault.js';
import { startServerProcess } from './built-program.js';
import { migrateDatabase } from '../../src/compose.js';

/*
 * Whoever signs may be killed at any moment: what is whole stays good, what is torn is said, and another one goes on.
 */

let config: Config;
let file: string;
let key: string;
let ledger: LedgerUnderFault;
let paid = 0;

const pay = (): Promise<void> => ledger.recharge('acme', `pay-${(paid += 1)}`, 5n);
const verdict = async () => (await checkCheckpoints(ledger.holdfast, file, [key])).verdict;

beforeAll(async () => {
  const made = await withCheckpoints(await newLedgerConfig(sharedServices()));
  ({ config, file, key } = made);
  await migrateDatabase(config);
  ledger = await LedgerUnderFault.open(config, []);
  await ledger.openAccount('acme', 5n);
});
afterAll(async () => {
  await ledger.close();
  await dropLedger(sharedServices(), config);
});

describe('the checkpointer', () => {
  test('of two processes one signs; when it is killed, the other goes on where it ended', async () => {
    const only = { ...config, service: { ...config.service, roles: ['checkpointer'] as const } };
    const first = await startServerProcess(only);
    try {
      await until('the first signs', async () => (await checkpointsIn(file)) === 1);
      const second = await LedgerUnderFault.open(config, ['checkpointer']);
      try {
        await until('the second stands by', () => checkpointerState(second).startsWith('another process signs'));
        await pay();
        await until('it is signed', async () => (await checkpointsIn(file)) === 2);
        expect(checkpointerState(second)).toContain('another process signs');
        await first.kill9();
        await pay();
        await until('the second signs', () => checkpointerState(second).startsWith('signed'));
      } finally {
        await second.close();
      }
    } finally {
      await first.kill9();
    }
    expect(await verdict()).toMatchObject({ checkpoints: 3, count: 0 });
  });

  test('killed in the middle of a write, it leaves a torn end: passed over and said, then cut off, and all goes on', async () => {
    const before = await readFile(file, 'utf8');
    const half = before.slice(0, 150);
    const script = `const fs = require('fs'); const f = fs.openSync(process.argv[1], 'a'); fs.writeSync(f, process.argv[2]); process.stdout.write('half'); setInterval(() => 0, 1000);`; // prettier-ignore
    const writer = spawn(process.execPath, ['-e', script, file, half]);
    await once(writer.stdout, 'data');
    const gone = once(writer, 'exit');
    writer.kill('SIGKILL');
    await gone;
    expect(await verdict()).toMatchObject({
      checkpoints: 3,
      count: 0,
      torn: { at: Buffer.byteLength(before), bytes: 150 },
    });
    const next = await LedgerUnderFault.open(config, ['checkpointer']);
    await pay();
    await until('it signs', () => checkpointerState(next).startsWith('signed'));
    await next.close();
    const found = await verdict();
    expect(found).toMatchObject({ count: 0 });
    expect(found.torn).toBeUndefined();
    expect((await readFile(file, 'utf8')).startsWith(before)).toBe(true);
  });

  test('signs nothing while nothing changes, and does not run without a key, which is said', async () => {
    const without: Config = { ...config, checkpoints: { ...config.checkpoints, keyFile: undefined } };
    const other = await LedgerUnderFault.open(without, ['checkpointer']);
    expect(checkpointerState(other)).toContain('names no key');
    await other.close();
    const before = await checkpointsIn(file);
    const again = await LedgerUnderFault.open(config, ['checkpointer']);
    await until('it has looked', () => checkpointerState(again).startsWith('nothing to sign'));
    await again.close();
    expect(await checkpointsIn(file)).toBe(before);
  });
});
