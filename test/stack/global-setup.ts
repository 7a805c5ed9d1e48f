/**
 * One PostgreSQL, Redis and Kafka for the whole test run; tests get the addresses by
 * `inject('postgresUrl')`, `inject('redisUrl')` and `inject('kafkaBrokers')`.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startStack, stopStack, streamProgress } from '../../src/stack/index.js';
import { testContainers } from './containers.js';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
    redisUrl: string;
    kafkaBrokers: readonly string[];
  }
}

/** Starts the shared services and returns what stops them and removes their data. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  // As root, the database runs as another user, who must be able to pass through.
  await chmod(dataDir, 0o755);
  const remove = async (): Promise<void> => {
    await stopStack({ dataDir, deleteData: true });
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const stack = await startStack({ dataDir, containers: testContainers, progress: streamProgress(process.stderr) });
    project.provide('postgresUrl', stack.postgres.url);
    project.provide('redisUrl', stack.redis.url);
    project.provide('kafkaBrokers', stack.kafka.brokers);
    return async () => {
      await stack.stop();
      await remove();
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
