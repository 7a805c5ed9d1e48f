/** One model for all three: the fold, the real SQL and the real Lua, side by side, whatever befalls them. */
import { afterAll, expect, test } from 'vitest';
import { AMOUNT_MAX } from '../../events/index.js';
import type { Command } from '../../src/core/command.js';
import { benches } from '../integration/journal-setting.js';
import { reserveOf, sole } from '../lua/harness.js';
import { LedgerDriver } from '../model/ledger-driver.js';
import { ledgerSteps } from '../model/ledger-steps.js';
import type { LedgerStep } from '../model/ledger-steps.js';
import { TENANT } from '../model/random-commands.js';
import { forRandomSteps, isAsked, runsAsked, timeLimitMs } from '../model/random-runs.js';

const RUNS = runsAsked(15);
const databases = benches({ name: 'holdfast', partitions: 1 });
/** Databases go while the next run is under way. */
const closing: Promise<void>[] = [];
afterAll(async () => {
  await Promise.all(closing);
  await databases.remove();
});

/** What all runs met, for those who want to know what was tried. */
const met = new Map<string, number>();

const drive = async (taken: readonly LedgerStep[]): Promise<LedgerDriver> => {
  const driver = await LedgerDriver.open(await databases.bench());
  try {
    for (const step of taken) await driver.take(step);
    await driver.finish();
  } finally {
    closing.push(driver.close());
  }
  for (const step of taken) met.set(step.do, (met.get(step.do) ?? 0) + 1);
  for (const [word, times] of driver.log.said) met.set(word, (met.get(word) ?? 0) + times);
  return driver;
};

test(
  'fold, SQL and Lua agree on every bucket after every step',
  async () => {
    await forRandomSteps(ledgerSteps, RUNS, async (taken) => {
      await drive(taken);
    });
    if (isAsked()) {
      const words = [...met]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([word, n]) => `${word} ${n.toString()}`);
      process.stdout.write(`${RUNS.toString()} runs met: ${words.join(', ')}\n`);
    }
    expect.hasAssertions();
  },
  timeLimitMs(RUNS) + 60_000,
);

const append = (command: Command): LedgerStep => ({ do: 'append', command });
const pay = (id: string, amount: bigint): LedgerStep =>
  append({ kind: 'recharge', tenant: TENANT, account: TENANT, id, amount });
const finalize = (id: string, amount: bigint): LedgerStep =>
  append({ kind: 'finalize', tenant: TENANT, id, cost: sole(amount), accounts: [TENANT] });
const hold = (id: string, amount: bigint): LedgerStep => ({
  do: 'reserve',
  command: reserveOf(id, { requested: sole(amount), policy: 'caller' }),
});
const APPLY: LedgerStep = { do: 'apply', back: 0, count: 50 };

test('amounts up to 2^63 − 1 are held, charged and given back; what would pass it is refused by all, and nothing changes', async () => {
  // The world begins with 300 in the wallet.
  const { log } = await drive([
    pay('to-the-brim', AMOUNT_MAX - 300n),
    pay('one-too-many', 1n),
    APPLY,
    hold('all', AMOUNT_MAX),
    hold('nothing-left', 1n),
    APPLY,
    pay('while-all-is-held', 1n),
    append({ kind: 'refund', tenant: TENANT, id: 'all', reason: 'failed' }),
    APPLY,
    hold('all-again', AMOUNT_MAX),
    APPLY,
    finalize('all-again', AMOUNT_MAX),
    finalize('cold', 1n),
    APPLY,
    pay('funded-to-the-last', 1n),
    pay('funded-past-it', 1n),
    { do: 'rebuild' },
    hold('the-last-one', 1n),
    APPLY,
    { do: 'rebuild_from_events' },
  ]);
  expect(log.fold.state.accounts.get(TENANT)).toMatchObject({
    available: 0n,
    held: 1n,
    used: AMOUNT_MAX,
    funded: -AMOUNT_MAX - 1n,
  });
  expect(Object.fromEntries(log.said)).toMatchObject({
    amount_overflow: 4,
    Reserved: 3,
    Refunded: 1,
    Finalized: 1,
  });
});
