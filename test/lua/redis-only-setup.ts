/** One Redis, or a Cluster of three, for a run of the tests that need nothing else. */
import type { TestProject } from 'vitest/node';
import { findProgram, pathFolders } from '../../src/stack/tools.js';
import { startPrivate } from '../stack/private-services.js';
import { startRedisCluster } from './redis-cluster.js';

/** Starts it and returns what ends it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['HOLDFAST_REDIS_URL'];
  if (given !== undefined && given !== '') {
    project.provide('redisUrl', given);
    return () => Promise.resolve();
  }
  if (process.env['REDIS_TOPOLOGY'] !== 'cluster') {
    const server = await startPrivate('redis');
    project.provide('redisUrl', server.url);
    return () => server.remove();
  }
  const program = findProgram('redis-server', pathFolders(process.env));
  if (program === undefined) throw new Error('No redis-server is on the PATH.');
  const cluster = await startRedisCluster(program);
  project.provide('redisUrl', cluster.url);
  return () => cluster.stop();
}
