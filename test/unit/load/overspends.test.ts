import { describe, expect, test } from 'vitest';
import { genesisHash } from '../../../events/index.js';
import type { StoredEvent } from '../../../events/index.js';
import type { Command } from '../../../src/core/command.js';
import { execute } from '../../../src/core/decide/index.js';
import { initialState } from '../../../src/core/state.js';
import { countOverspends } from '../../../src/load/overspends.js';

const open = (account: string, more: { overdraftLimit?: bigint; exempt?: boolean } = {}): Command => ({
  kind: 'open_account',
  tenant: 't',
  account,
  unit: 'USD',
  scale: 6,
  overdraftLimit: 0n,
  exempt: false,
  ...more,
});
const recharge = (account: string, amount: bigint): Command => ({
  kind: 'recharge',
  tenant: 't',
  account,
  id: account,
  amount,
});
const reserve = (account: string, id: string, amount: bigint): Command => ({
  kind: 'reserve',
  tenant: 't',
  id,
  accounts: [account],
  requested: { kind: 'sole', amount },
  policy: 'caller',
  ttlSeconds: 60,
  level: 'durable',
});
const finalize = (id: string, amount: bigint): Command => ({
  kind: 'finalize',
  tenant: 't',
  id,
  cost: { kind: 'sole', amount },
});

const logOf = (commands: readonly Command[], partition = 0): StoredEvent[] => {
  const state = initialState();
  const tail = { ledger: 'l', partition, incarnation: 1, position: 0, hash: genesisHash('l', partition) };
  return commands.flatMap((command) => execute(state, tail, command, 0).events);
};

const readerOf = (...logs: readonly (readonly StoredEvent[])[]) => ({
  heads: () => Promise.resolve(logs.map((log, partition) => ({ partition, position: log.length, hash: '' }))),
  read: (partition: number, after: number, limit: number) =>
    Promise.resolve((logs[partition] ?? []).slice(after, after + Math.min(limit, 3))),
});

/** As if the guard had failed: the reserve took more than the caller asked for. */
const tampered = (log: readonly StoredEvent[], id: string, amount: string): StoredEvent[] =>
  log.map((stored) =>
    stored.event.name === 'Reserved' && stored.event.data.reservation_id === id
      ? { ...stored, body: stored.body.replaceAll(/"available":"-\d+"/g, `"available":"-${amount}"`) }
      : stored,
  );

describe('overspends counted from the log', () => {
  const good = [
    open('t'),
    recharge('t', 200n),
    reserve('t', 'a', 65n),
    reserve('t', 'b', 65n),
    reserve('t', 'c', 65n),
    reserve('t', 'd', 65n),
  ];

  test('are none where every reserve was covered; the lowest balance is told', async () => {
    expect(await countOverspends(readerOf(logOf(good), [], logOf(good, 2)))).toEqual({
      events: 10,
      reserves: 6,
      overspends: 0,
      lowest: 5n,
    });
  });

  test('are found where a reserve took what was not there', async () => {
    const { overspends, lowest } = await countOverspends(readerOf(tampered(logOf(good), 'b', '136')));
    expect({ overspends, lowest }).toEqual({ overspends: 2, lowest: -66n });
  });

  test('are not those within an overdraft, of an exempt account, or by a finalize that cost more than was held', async () => {
    const log = logOf([
      open('t/overdraft', { overdraftLimit: 10n }),
      reserve('t/overdraft', 'a', 10n),
      open('t/exempt', { exempt: true }),
      reserve('t/exempt', 'b', 1_000n),
      open('t'),
      recharge('t', 5n),
      reserve('t', 'c', 5n),
      finalize('c', 50n),
    ]);
    expect(await countOverspends(readerOf(log))).toMatchObject({ events: 8, reserves: 3, overspends: 0, lowest: -10n });
  });

  test('are not counted over a log with a hole', async () => {
    const log = logOf(good);
    await expect(countOverspends(readerOf([...log.slice(0, 2), ...log.slice(3)]))).rejects.toThrow(
      /from position 2 to 4/,
    );
  });
});
