import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrateDatabase } from '../../src/compose.js';
import type { Config } from '../../src/config/settings.js';
import { createLedger } from '../../src/index.js';
import type { LedgerInProcess } from '../../src/index.js';
import { createLogger } from '../../src/logging.js';
import { dropLedger, newLedgerConfig, sharedServices } from '../faults/ledger-under-fault.js';

/*
 * `createLedger(config)`: the same operations as over HTTP, with no HTTP between.
 */

let config: Config;
let ledger: LedgerInProcess;

beforeAll(async () => {
  config = await newLedgerConfig(sharedServices());
  await migrateDatabase(config);
  ledger = await createLedger(config, { logger: createLogger({ level: 'silent' }) });
});
afterAll(() => dropLedger(sharedServices(), config));

describe('a ledger in process', () => {
  test('grants, charges, and says no by value', async () => {
    await ledger.openAccount({ account: 'acme', unit: 'USD' });
    await ledger.recharge({ tenant: 'acme', account: 'acme', id: 'pay-1', amount: 100_000n });
    const made = await ledger.reserve({ tenant: 'acme', id: 'req-1', amount: { kind: 'sole', amount: 65_000n } });
    expect(made).toMatchObject({ ok: true, reservation: { state: 'open' } });
    const refused = await ledger.reserve({ tenant: 'acme', id: 'req-2', amount: { kind: 'sole', amount: 65_000n } });
    expect(refused).toMatchObject({
      ok: false,
      rejection: { code: 'insufficient_quota', account: 'acme', available: 35_000n, required: 65_000n },
    });
    const done = await ledger.finalize({ tenant: 'acme', id: 'req-1', amount: { kind: 'sole', amount: 41_210n } });
    expect(done).toMatchObject({ ok: true, reservation: { state: 'finalized' } });
    expect(await ledger.account('acme', 'acme')).toMatchObject({ account: { available: 58_790n, used: 41_210n } });
  });

  test('names the field of bad input', async () => {
    const bad = ledger.reserve({ tenant: 'acme', id: 'spaces are not allowed', amount: { kind: 'sole', amount: 1n } });
    await expect(bad).rejects.toMatchObject({ name: 'InvalidInputError', field: 'id' });
  });

  test('refuses a configuration that misses or misspells a setting, naming it', async () => {
    await expect(createLedger({})).rejects.toThrow(/HOLDFAST_POSTGRES_URL is missing/);
    const misspelt = { ...config, postgres: { ...config.postgres, lane: 3 } };
    await expect(createLedger(misspelt)).rejects.toThrow(/postgres\.lane is not a setting/);
  });

  test('closed, it takes no more', async () => {
    await ledger.close();
    const late = ledger.recharge({ tenant: 'acme', account: 'acme', id: 'late', amount: 1n });
    await expect(late).rejects.toMatchObject({ code: 'stopping' });
  });
});
