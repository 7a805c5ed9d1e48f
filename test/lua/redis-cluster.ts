/** A real Redis Cluster of three masters on loopback, without redis-cli. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

const MASTERS = 3;
const SLOTS = 16_384;
const READY_TIMEOUT_MS = 30_000;

export interface ClusterNode {
  readonly port: number;
  readonly id: string;
  /** A plain client of this node. */
  readonly client: Redis;
  /** Ends it by SIGKILL. */
  kill(): Promise<void>;
}

export interface RedisCluster {
  /** All seeds, separated by commas. */
  readonly url: string;
  readonly nodes: readonly ClusterNode[];
  stop(): Promise<void>;
}

/** A port that is free, as is the one 10,000 above: nodes talk to each other there. */
const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  server.close();
  await once(server, 'close');
  return port < 50_000 ? port : freePort();
};

const startNode = async (program: string, folder: string, env: NodeJS.ProcessEnv): Promise<ClusterNode> => {
  const port = await freePort();
  const dir = await mkdtemp(join(folder, 'node-'));
  const settings = { port, dir, bind: '127.0.0.1', save: '', appendonly: 'no', 'maxmemory-policy': 'noeviction' };
  const cluster = { 'cluster-enabled': 'yes', 'cluster-config-file': 'nodes.conf', 'cluster-node-timeout': 2000 };
  const args = Object.entries({ ...settings, ...cluster }).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const process: ChildProcess = spawn(program, args, { stdio: 'ignore', env });
  const client = new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: null, retryStrategy: () => 50 });
  client.on('error', () => undefined); // until it listens
  const id = await client.cluster('MYID');
  const kill = async (): Promise<void> => {
    client.disconnect();
    if (process.exitCode !== null || process.signalCode !== null) return;
    process.kill('SIGKILL');
    await once(process, 'exit');
  };
  return { port, id, client, kill };
};

const isWhole = async ({ client }: ClusterNode): Promise<boolean> => {
  const info = await client.cluster('INFO');
  return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${MASTERS.toString()}`);
};

const join3 = async (nodes: readonly ClusterNode[]): Promise<void> => {
  for (const [i, node] of nodes.entries()) {
    const [from, to] = [i, i + 1].map((n) => Math.floor((n * SLOTS) / MASTERS));
    const slots = Array.from({ length: (to ?? 0) - (from ?? 0) }, (_, n) => (from ?? 0) + n);
    await node.client.cluster('ADDSLOTS', ...slots);
    // Without an epoch of its own each, nodes take turns in bumping theirs, which takes seconds.
    await node.client.call('CLUSTER', 'SET-CONFIG-EPOCH', (i + 1).toString());
    if (i > 0) await nodes[0]?.client.cluster('MEET', '127.0.0.1', node.port);
  }
  const until = Date.now() + READY_TIMEOUT_MS;
  while (!(await Promise.all(nodes.map(isWhole))).every(Boolean)) {
    if (Date.now() > until) throw new Error('The Redis Cluster did not become whole in time.');
    await sleep(50);
  }
};

/** Starts it from a redis-server program. */
export const startRedisCluster = async (program: string, env = process.env): Promise<RedisCluster> => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-cluster-'));
  const nodes: ClusterNode[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.kill()));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    for (let i = 0; i < MASTERS; i++) nodes.push(await startNode(program, folder, env));
    await join3(nodes);
  } catch (error) {
    await stop();
    throw error;
  }
  const url = nodes.map(({ port }) => `redis://127.0.0.1:${port.toString()}`).join(',');
  return { url, nodes, stop };
};
