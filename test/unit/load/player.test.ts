import { afterEach, describe, expect, test } from 'vitest';
import { openCustomers, usedBy } from '../../../src/load/customers.js';
import type { Customer } from '../../../src/load/customers.js';
import { LedgerClient } from '../../../src/load/ledger-client.js';
import { planRequests } from '../../../src/load/plan.js';
import type { PlannedRequest } from '../../../src/load/plan.js';
import { play } from '../../../src/load/player.js';
import type { Tally } from '../../../src/load/tally.js';
import { readPrices } from '../../../src/pricing/index.js';
import { generateTrace } from '../../../src/traces/index.js';
import { startMemoryServer } from './memory-server.js';
import type { Fault, MemoryServer } from './memory-server.js';

const PRICES = readPrices(`{
  "small": {"input_cost_per_token": 1.5e-07, "output_cost_per_token": 6e-07, "max_output_tokens": 2000},
  "large": {"input_cost_per_token": 2.5e-06, "output_cost_per_token": 1e-05, "max_output_tokens": 2000}}`);

const REQUESTS = 400;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const customersOf = (balance: bigint, topUp = 0n): Customer[] =>
  Array.from({ length: 20 }, (_unused, i) => ({ tenant: `t${i}`, balance, topUp }));

const planOf = (customers: readonly Customer[], failShare = 0.03): AsyncGenerator<PlannedRequest> =>
  planRequests(generateTrace({ seed: 7, requests: REQUESTS }), {
    run: 'run',
    customers,
    models: PRICES.models,
    prices: PRICES,
    seed: 7,
    failShare,
  });

const run = async (
  customers: readonly Customer[],
  faultOf?: (request: number, path: string) => Fault,
): Promise<{ tally: Tally; server: MemoryServer; used: bigint }> => {
  const server = await startMemoryServer(faultOf);
  const client = new LedgerClient({ baseUrl: server.baseUrl, key: 'k', connections: 16, giveUpMs: 2_000 });
  closing.push(
    () => client.close(),
    () => server.close(),
  );
  await openCustomers(client, customers, 8);
  const tally = await play(planOf(customers), client, { concurrency: 16 });
  return { tally, server, used: await usedBy(client, customers) };
};

const countOf = (server: MemoryServer, name: string): number =>
  server.events.filter(({ event }) => event.name === name).length;

describe('played requests', () => {
  test('are all accounted for, and what they used is what the ledger says', async () => {
    const { tally, server, used } = await run(customersOf(1_000_000_000n));
    expect(tally.requests).toBe(REQUESTS);
    expect(tally.count('finalized') + tally.count('refunded')).toBe(REQUESTS);
    expect(tally.count('refunded')).toBeGreaterThan(0);
    expect(tally.count('refunded')).toBe(countOf(server, 'Refunded'));
    expect(tally.used).toBe(used);
    expect(tally.summary()).toMatchObject({ retries: 0, errors: {}, reserve: { count: REQUESTS } });
    expect(tally.summary().reserve.p99_ms).toBeGreaterThanOrEqual(tally.summary().reserve.p50_ms);
  });

  test('hold the most that they can cost, so that none costs more than its hold', async () => {
    for await (const { hold, cost } of planOf(customersOf(0n))) expect(cost).toBeLessThanOrEqual(hold);
  });

  test('are the same for the same seed', async () => {
    const ids = async (): Promise<unknown[]> => {
      const all: unknown[] = [];
      for await (const { id, customer, model, hold, fails } of planOf(customersOf(0n)))
        all.push([id, customer.tenant, model, hold, fails]);
      return all;
    };
    expect(await ids()).toEqual(await ids());
  });

  test('are refused once a customer has run dry', async () => {
    const { tally, server } = await run(customersOf(30_000n));
    expect(tally.count('refused')).toBeGreaterThan(0);
    expect(tally.count('refused') + tally.count('finalized') + tally.count('refunded')).toBe(REQUESTS);
    expect(countOf(server, 'Reserved')).toBe(REQUESTS - tally.count('refused'));
  });

  test('go on after a customer has recharged', async () => {
    const { tally, server } = await run(customersOf(30_000n, 1_000_000n));
    expect(tally.count('refused')).toBe(0);
    expect(tally.recharges).toBeGreaterThan(0);
    expect(countOf(server, 'Recharged')).toBe(20 + tally.recharges);
  });
});

describe('when answers are lost', () => {
  test.each(['unavailable', 'cut_before', 'cut_after'] as const)(
    '(%s) the same id is sent again, and nothing happens twice',
    async (fault) => {
      // Every eighth request goes wrong; so does a second try now and then.
      const { tally, server, used } = await run(customersOf(1_000_000_000n), (n) => (n % 8 === 0 ? fault : 'none'));
      expect(tally.retries).toBeGreaterThan(50);
      expect(tally.count('finalized') + tally.count('refunded')).toBe(REQUESTS);
      expect(countOf(server, 'Reserved')).toBe(REQUESTS);
      expect(countOf(server, 'Finalized')).toBe(tally.count('finalized'));
      expect(tally.used).toBe(used);
    },
  );

  test('for good, the outcome counts as unknown', async () => {
    const lost = (_n: number, path: string): Fault => (path.endsWith('run-9/finalize') ? 'cut_after' : 'none');
    const { tally, used } = await run(customersOf(1_000_000_000n), lost);
    expect(tally.count('unknown')).toBe(1);
    expect(tally.requests).toBe(REQUESTS);
    expect(Object.values(tally.summary().errors)).toEqual([1]);
    // It did happen: which is why a run with unknown outcomes proves nothing about sums.
    expect(used).toBeGreaterThan(tally.used);
  });
});
