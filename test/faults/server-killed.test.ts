import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateDatabase, openHoldfast } from '../../src/compose.js';
import type { Holdfast } from '../../src/compose.js';
import type { Config } from '../../src/config/settings.js';
import { createLogger } from '../../src/logging.js';
import { mintKey } from '../../src/service/keys.js';
import { NO_DRIFT, dropLedger, granted, newLedgerConfig, sharedServices, until } from './ledger-under-fault.js';
import { startServerProcess } from './built-program.js';
import type { ServerProcess } from './built-program.js';

const TENANTS = ['north', 'south', 'east', 'west'];
const FUNDED = 1_000_000n;
const CLIENTS = 16;

let config: Config;
/** Looks at the ledger from outside the process that is killed. */
let witness: Holdfast;
let key: string;

beforeAll(async () => {
  config = await newLedgerConfig(sharedServices());
  await migrateDatabase(config);
  witness = await openHoldfast(config, { logger: createLogger({ level: 'silent' }), roles: [] });
  key = (await mintKey(witness.keys, { scopes: ['admin'], label: 'clients' })).text;
  for (const tenant of TENANTS) {
    granted(await witness.ledger.openAccount({ account: tenant, unit: 'USD' }));
    granted(await witness.ledger.recharge({ tenant, account: tenant, id: 'first', amount: FUNDED }));
  }
});
afterAll(async () => {
  await witness.close();
  await dropLedger(sharedServices(), config);
});

interface Acknowledged {
  readonly tenant: string;
  readonly id: string;
  readonly state: 'open' | 'finalized' | 'refunded';
}

/** One client: reserves, then finalizes or refunds; notes what was acknowledged, and ends when the server is gone. */
const client = async (url: string, name: string, acknowledged: Acknowledged[]): Promise<void> => {
  const post = async (tenant: string, path: string, body: object): Promise<boolean> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'holdfast-tenant': tenant };
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    await response.arrayBuffer();
    return response.ok;
  };
  for (let n = 0; ; n += 1) {
    const tenant = TENANTS[n % TENANTS.length] ?? '';
    const id = `${name}-${n.toString()}`;
    try {
      if (!(await post(tenant, '/v1/reservations', { id, amount: '10' }))) continue;
      acknowledged.push({ tenant, id, state: 'open' });
      if (n % 3 === 0) continue;
      const closing = n % 3 === 1 ? ('finalize' as const) : ('refund' as const);
      const body = closing === 'finalize' ? { amount: '7' } : { reason: 'failed' };
      if (await post(tenant, `/v1/reservations/${id}/${closing}`, body))
        acknowledged.push({ tenant, id, state: closing === 'finalize' ? 'finalized' : 'refunded' });
    } catch {
      return;
    }
  }
};

const playUntilKilled = async (server: ServerProcess, round: number): Promise<readonly Acknowledged[]> => {
  const acknowledged: Acknowledged[] = [];
  const clients = Array.from({ length: CLIENTS }, (_, n) => client(server.url, `k${round}-${n}`, acknowledged));
  await until('the clients are under way', () => acknowledged.length > 300);
  await server.kill9();
  await Promise.all(clients);
  return acknowledged;
};

test('kill -9 of the server under load: nothing acknowledged is lost, nothing drifts', async () => {
  for (let round = 0; round < 3; round += 1) {
    const acknowledged = await playUntilKilled(await startServerProcess(config), round);
    const again = await startServerProcess(config);
    const last = new Map(acknowledged.map((one) => [`${one.tenant}/${one.id}`, one]));
    for (const { tenant, id, state } of last.values()) {
      const found = granted(await witness.ledger.reservation(tenant, id));
      // Acknowledged as open, it may have been closed by a command whose answer was lost.
      if (state !== 'open') expect(found.reservation.state).toBe(state);
    }
    await until('Kafka and Redis are level with the journal', async () => {
      const report = await witness.verify(() => undefined);
      return report.postgres + report.kafka + report.redis === 0;
    });
    expect(await witness.verify(() => undefined)).toMatchObject(NO_DRIFT);
    expect(await again.stop()).toBe(0);
  }
}, 180_000);

test('a graceful stop answers what is under way and exits with 0', async () => {
  const server = await startServerProcess(config);
  const acknowledged: Acknowledged[] = [];
  const clients = Array.from({ length: 4 }, (_, n) => client(server.url, `g-${n}`, acknowledged));
  await until('the clients are under way', () => acknowledged.length > 50);
  expect(await server.stop()).toBe(0);
  await Promise.all(clients);
  for (const { tenant, id } of acknowledged) granted(await witness.ledger.reservation(tenant, id));
}, 60_000);
