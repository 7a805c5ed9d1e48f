import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrateDatabase, openHoldfast } from '../compose.js';
import type { Holdfast } from '../compose.js';
import { loadConfig } from '../config/load.js';
import { createLogger } from '../logging.js';
import { emptyRedis, ledgerKeyPrefix } from '../redis/index.js';
import { mintKey } from '../service/keys.js';
import { StackError, stackStatus, startStack } from '../stack/index.js';
import type { RunningStack } from '../stack/index.js';
import type { BringUpOptions, DemoPorts, DemoTarget } from './demo-ports.js';
import { allPartitions } from '../core/partition.js';

/** Where the demo's own stack lies: never the one that somebody works with. */
const DATA_DIR = resolve('.holdfast', 'demo');
const START_TIMEOUT_MS = 60_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** The demo's own database, topic and key prefix: on a server that others use it touches nothing of theirs. */
const environmentOf = async (stack: RunningStack, run: string): Promise<Environment> => {
  const database = `holdfast_demo_${run}`;
  const client = new pg.Client({ connectionString: stack.postgres.url });
  await client.connect();
  try {
    await client.query(`create database ${database}`);
  } finally {
    await client.end();
  }
  const url = new URL(stack.postgres.url);
  url.pathname = `/${database}`;
  return {
    ...process.env,
    HOLDFAST_POSTGRES_URL: url.href,
    HOLDFAST_REDIS_URL: stack.redis.url,
    HOLDFAST_KAFKA_BROKERS: stack.kafka.brokers.join(','),
    HOLDFAST_KAFKA_TOPIC: `holdfast.demo.${run}`,
    HOLDFAST_REDIS_KEY_PREFIX: `hf-demo-${run}`,
    HOLDFAST_HTTP_PORT: '0',
    HOLDFAST_LOG_LEVEL: 'info',
  };
};

interface Server {
  readonly child: ChildProcess;
  readonly url: string;
}

const main = resolve(import.meta.dirname, 'main.js');

/** Starts `holdfast serve` as a process of its own, as a user would, and waits until it says where it listens. */
const startServer = async (
  environment: Environment,
  logFile: string,
  signal: AbortSignal,
  keep: boolean,
): Promise<Server> => {
  const log = await open(logFile, 'w');
  const child = spawn(process.execPath, [main, 'serve'], {
    env: environment,
    stdio: ['ignore', log.fd, log.fd],
    detached: keep,
  });
  await log.close();
  const untilMs = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < untilMs && child.exitCode === null && !signal.aborted) {
    const url = /"url":"(http[^"]+)"/.exec(await readFile(logFile, 'utf8'))?.[1];
    if (url !== undefined) return { child, url };
    await sleep(100);
  }
  child.kill();
  throw new StackError('service_unavailable', `The server did not start; see its log: cat ${logFile}`);
};

const stopServer = async ({ child }: Server): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
};

const placesOf = (stack: RunningStack, logFile: string): string[] => [
  ...[stack.postgres, stack.redis, stack.kafka].map(
    ({ detail, dataDir, logFile: log }) =>
      `${detail}${dataDir === undefined ? '' : `; data ${dataDir}`}${log === undefined ? '' : `; log ${log}`}`,
  ),
  `server log ${logFile}`,
];

const readinessOf = async ({ redis, identity }: Holdfast): Promise<{ ready: number; partitions: number }> => {
  const all = allPartitions(identity.partitions);
  const info = await redis.readiness.info(all);
  return { ready: [...info.values()].filter(({ ready }) => ready).length, partitions: identity.partitions };
};

/** What an earlier demo left is kept until the next one, to be looked at, and no longer: it would only grow. */
const forgetEarlier = async (): Promise<void> => {
  const services = await stackStatus({ dataDir: DATA_DIR });
  if (services.every(({ up }) => !up)) await rm(DATA_DIR, { recursive: true, force: true });
};

const bringUp = async ({ progress, signal, keep }: BringUpOptions): Promise<DemoTarget> => {
  const run = randomBytes(4).toString('hex');
  await forgetEarlier();
  const stack = await startStack({ dataDir: DATA_DIR, progress, signal, detached: keep });
  let server: Server | undefined;
  let holdfast: Holdfast | undefined;
  const stop = async (): Promise<void> => {
    await holdfast?.close();
    if (!keep && server !== undefined) await stopServer(server);
    if (!keep) await stack.stop();
  };
  try {
    const environment = await environmentOf(stack, run);
    const config = loadConfig(environment);
    await migrateDatabase(config);
    holdfast = await openHoldfast(config, { logger: createLogger({ level: 'silent' }), roles: [] });
    const minted = await mintKey(holdfast.keys, { scopes: ['admin'], label: 'demo' });
    const logFile = join(DATA_DIR, 'server.log');
    progress.say('Starting the server');
    server = await startServer(environment, logFile, signal, keep);
    if (keep) server.child.unref();
    const ledger = holdfast;
    return {
      baseUrl: server.url,
      key: minted.text,
      places: placesOf(stack, logFile),
      log: ledger.reading.reader,
      verify: () => ledger.verify(() => undefined),
      emptyRedis: async () => ({
        keys: await emptyRedis(
          stack.redis.url,
          stack.redis.source === 'environment'
            ? ledgerKeyPrefix(config.redis.keyPrefix, ledger.identity.ledger)
            : undefined,
        ),
      }),
      readiness: () => readinessOf(ledger),
      stop,
    };
  } catch (error) {
    if (server !== undefined) await stopServer(server);
    await holdfast?.close();
    await stack.stop();
    throw error;
  }
};

/** The demo on real services of its own. */
export const demoPorts: DemoPorts = { bringUp };
