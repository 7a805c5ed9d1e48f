import { afterAll, beforeAll, expect, test } from 'vitest';
import { LedgerUnderFault, NO_DRIFT, dropLedger, newLedgerConfig, sharedServices } from './ledger-under-fault.js';

/** Two servers with every body: relays, projectors, sweepers, keepers and healers, two of each on one ledger. */
let servers: readonly [LedgerUnderFault, LedgerUnderFault];

beforeAll(async () => {
  const config = await newLedgerConfig(sharedServices());
  const first = await LedgerUnderFault.open(config);
  servers = [first, await LedgerUnderFault.open(config)];
  await first.openAccount('acme', 3000n);
  await first.redisReady();
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await dropLedger(sharedServices(), servers[0].config);
});

test('an account spent from two servers at once is never overdrawn, and every id happens once', async () => {
  const answers = await Promise.all(
    Array.from({ length: 400 }, async (_, n) => {
      // Each id is sent to both, as by a client that lost patience with the first.
      const id = `r${n % 200}`;
      return servers[n % 2 === 0 ? 0 : 1].reserve('acme', id, 20n);
    }),
  );
  const granted = new Set(answers.flatMap((answer) => (answer.ok ? [answer.reservation.id] : [])));
  expect(granted.size).toBe(150);
  expect(await servers[1].balance('acme')).toMatchObject({ available: 0n, held: 3000n });
  const closed = await Promise.all(
    [...granted].flatMap((id) => servers.map((server) => server.finalize('acme', id, 15n))),
  );
  expect(closed.filter((answer) => answer.ok && !answer.replay)).toHaveLength(150);
  expect(await servers[0].balance('acme')).toMatchObject({ available: 750n, held: 0n, used: 2250n });
  expect(await servers[0].verify()).toMatchObject(NO_DRIFT);
}, 60_000);

test('what one server holds and the other refunds is given back once', async () => {
  const [first, second] = servers;
  expect((await first.reserve('acme', 'shared', 500n)).ok).toBe(true);
  const refund = { tenant: 'acme', id: 'shared', reason: 'cancelled' };
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? first : second).holdfast.ledger.refund(refund)),
  );
  expect(answers.every((answer) => answer.ok && answer.reservation.state === 'refunded')).toBe(true);
  expect(answers.filter((answer) => answer.ok && !answer.replay)).toHaveLength(1);
  expect(await second.balance('acme')).toMatchObject({ available: 750n, held: 0n });
  expect(await second.verify()).toMatchObject(NO_DRIFT);
});
