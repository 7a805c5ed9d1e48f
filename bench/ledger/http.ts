import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openHoldfast } from '../../src/compose.js';
import { openCustomers } from '../../src/load/customers.js';
import { LedgerClient } from '../../src/load/ledger-client.js';
import type { Reply } from '../../src/load/ledger-client.js';
import { createLogger } from '../../src/logging.js';
import { mintKey } from '../../src/service/keys.js';
import { treeCpuUs } from '../cpu.js';
import type { BenchSetting } from '../setting.js';
import { BALANCE, COST, HOLD } from './accounts.js';
import { until } from './in-process.js';
import type { OpenLedger } from './in-process.js';

const OPENING_AT_ONCE = 32;
/** A server tells its relay's lag once a second. */
const LAG_TOLD_MS = 1_200;

/** A program of ours in a process of its own, which says on a line of its output where it listens. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts `node file ...args` and waits for the address. Raises an Error when it ends before. */
export const startProcess = async (
  file: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<ServerProcess> => {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [path, ...args], {
    env: environment,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { stdout, pid } = child;
  if (stdout === null || pid === undefined) throw new Error(`${file} could not be started.`);
  const url = await new Promise<string>((resolve, reject) => {
    const lines = createInterface({ input: stdout }).on('line', (line) => {
      const found = /"url":"(http[^"]+)"/.exec(line)?.[1];
      if (found === undefined) return;
      // Its log goes on, and is thrown away unread: reading it would cost the clients time.
      lines.close();
      stdout.resume();
      resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`${file} ended with ${String(code)} before it served.`)));
  });
  return {
    url,
    pid,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
};

const keyFor = async ({ config }: BenchSetting): Promise<string> => {
  const holdfast = await openHoldfast(config, { logger: createLogger({ level: 'silent' }), roles: [] });
  try {
    return (await mintKey(holdfast.keys, { scopes: ['admin'], label: 'bench' })).text;
  } finally {
    await holdfast.close();
  }
};

const demand = (reply: Reply, what: string): void => {
  if (reply.kind === 'unknown' || reply.status >= 300) throw new Error(`${what} was refused: ${JSON.stringify(reply)}`);
};

/** True when every partition's relay has sent all, by the server's own metrics. */
const relayed = (metrics: string): boolean => {
  const lags = [...metrics.matchAll(/^holdfast_relay_lag_positions\{[^}]*\} (\d+)/gm)].map(([, lag]) => Number(lag));
  return lags.length > 0 && lags.every((lag) => lag === 0);
};

let cycles = 0;
const run = `h${Date.now().toString(36)}`;

/** The server in a process of its own; its clients are in this one, and their CPU time does not count. */
export const openHttp = async (setting: BenchSetting, connections: number): Promise<OpenLedger> => {
  const key = await keyFor(setting);
  const server = await startProcess('../../src/cli/main.js', ['serve'], setting.environment);
  const client = new LedgerClient({ baseUrl: server.url, key, connections });
  const text = async (path: string): Promise<string> => (await fetch(`${server.url}${path}`)).text();
  await until('Redis is ready', async () => {
    const { parts } = JSON.parse(await text('/readyz')) as { parts: { name: string; ok: boolean }[] };
    return parts.find(({ name }) => name === 'redis')?.ok === true;
  });
  return {
    open: (customers) =>
      openCustomers(
        client,
        customers.all.map((tenant) => ({ tenant, balance: BALANCE, topUp: 0n })),
        OPENING_AT_ONCE,
      ),
    subject: (customers) => ({
      name: `by HTTP, ${customers.name}`,
      eventsPerOperation: 2,
      meters: { ...setting.meters, node: () => treeCpuUs(server.pid) },
      operation: async () => {
        const tenant = customers.next();
        const id = `${run}-${(cycles += 1)}`;
        demand(await client.post('/v1/reservations', tenant, { id, amount: HOLD.toString() }), 'A reserve');
        const path = `/v1/reservations/${id}/finalize`;
        demand(await client.post(path, tenant, { amount: COST.toString() }), 'A finalize');
      },
      settled: async () => {
        await sleep(LAG_TOLD_MS);
        await until('Kafka has all events', async () => relayed(await text('/metrics')));
      },
    }),
    close: async () => {
      await client.close();
      await server.stop();
    },
  };
};
