import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { migrateDatabase } from '../src/compose.js';
import { loadConfig } from '../src/config/load.js';
import type { Config } from '../src/config/settings.js';
import { treeCpuUs } from './cpu.js';
import type { CpuMeters } from './drive.js';
import { startBenchServices } from './services.js';

/** Services with an empty ledger of the bench's own: database, topic and key prefix that nobody else has. */
export interface BenchSetting {
  readonly config: Config;
  /** The same configuration for a server in a process of its own. */
  readonly environment: NodeJS.ProcessEnv;
  /** Of the services that were started here. */
  readonly meters: CpuMeters;
  stop(): Promise<void>;
}

const createDatabase = async (url: string, name: string): Promise<string> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
};

/** Brings it all up. Raises StackError when a service can't be had. */
export const openSetting = async (): Promise<BenchSetting> => {
  const services = await startBenchServices(['postgres', 'redis', 'kafka']);
  try {
    const run = randomBytes(4).toString('hex');
    const environment: NodeJS.ProcessEnv = {
      ...process.env,
      HOLDFAST_POSTGRES_URL: await createDatabase(services.recordOf('postgres').address, `holdfast_bench_${run}`),
      HOLDFAST_REDIS_URL: services.recordOf('redis').address,
      HOLDFAST_KAFKA_BROKERS: services.recordOf('kafka').address,
      HOLDFAST_KAFKA_TOPIC: `holdfast.bench.${run}`,
      HOLDFAST_REDIS_KEY_PREFIX: `hfbench-${run}`,
      HOLDFAST_HTTP_PORT: '0',
      HOLDFAST_LOG_LEVEL: 'info',
    };
    const config = loadConfig(environment);
    await migrateDatabase(config);
    const meter = (name: 'postgres' | 'redis' | 'kafka') => (): number | undefined => {
      const { process: known } = services.recordOf(name);
      return known === undefined ? undefined : treeCpuUs(known.pid);
    };
    const meters = { postgres: meter('postgres'), redis: meter('redis'), java: meter('kafka') };
    return { config, environment, meters, stop: () => services.stop() };
  } catch (error) {
    await services.stop();
    throw error;
  }
};
