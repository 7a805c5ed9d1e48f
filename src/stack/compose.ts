/** Services in containers, by Docker Compose and this package's docker-compose.yml. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { ContainerSource, StartContext } from './candidates.js';
import { StackError, reasonOf, throwIfInterrupted } from './errors.js';
import { Unusable } from './local-program.js';
import { PACKAGE_ROOT } from './package-root.js';
import { freePort } from './ports.js';
import { probe } from './probes.js';
import { identify } from './processes.js';
import { keptPassword } from './secrets.js';
import {
  SERVICE_NAMES,
  SERVICE_TITLES,
  type ServiceName,
  type ServiceRecord,
  type StartedService,
} from './services.js';
import { findProgram, pathFolders, runTool, type ToolOptions, type ToolResult } from './tools.js';

const COMPOSE_FILE = join(PACKAGE_ROOT, 'docker-compose.yml');
const ENGINE_TIMEOUT_MS = 5_000;
const READY_TIMEOUT_S = 120;

interface ComposeFile {
  readonly services: Readonly<Record<string, { readonly image?: string }>>;
}

/** The image, tag included, that docker-compose.yml names for the service. */
export async function composeImage(name: ServiceName): Promise<string> {
  const file = parse(await readFile(COMPOSE_FILE, 'utf8')) as ComposeFile;
  const image = file.services[name]?.image;
  if (image === undefined) throw new Unusable(`docker-compose.yml names no image for ${SERVICE_TITLES[name]}`);
  return image;
}

/** The address of a service that is published on a loopback port. */
export function containerAddress(name: ServiceName, port: number, password: string): string {
  switch (name) {
    case 'postgres':
      return `postgres://postgres:${password}@127.0.0.1:${port}/holdfast`;
    case 'redis':
      return `redis://:${password}@127.0.0.1:${port}`;
    case 'kafka':
      return `127.0.0.1:${port}`;
  }
}

/** The Compose project of the stack in that folder: its containers and volumes carry this name. */
function projectOf(dataDir: string): string {
  return `holdfast-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`;
}

function secretFolder(dataDir: string): string {
  return join(dataDir, 'docker');
}

interface Docker {
  (args: readonly string[], options?: ToolOptions): Promise<ToolResult>;
}

/** The client, once an engine has answered it. @throws Unusable saying which part is missing. */
async function findDocker(env: NodeJS.ProcessEnv): Promise<Docker> {
  const program = findProgram('docker', pathFolders(env));
  if (program === undefined) throw new Unusable('Docker is not installed');
  const docker: Docker = (args, options) => runTool(program, args, { env, ...options });
  const engine = await docker(['version', '--format', '{{.Server.Version}}'], { timeoutMs: ENGINE_TIMEOUT_MS });
  if (engine.code !== 0) throw new Unusable('no Docker engine answers');
  const plugin = await docker(['compose', 'version'], { timeoutMs: ENGINE_TIMEOUT_MS });
  if (plugin.code !== 0) throw new Unusable('Docker lacks its compose plugin');
  return docker;
}

async function ensureImage(docker: Docker, name: ServiceName, context: StartContext): Promise<void> {
  const image = await composeImage(name);
  if ((await docker(['image', 'inspect', image])).code === 0) return;
  const task = context.progress.task(`Pulling ${image}`, 10);
  let layers = 0;
  const pulled = await docker(['pull', image], {
    signal: context.signal,
    onLine: (line) => {
      if (/Pull complete|Already exists/.test(line)) task.advance(++layers, line.slice(0, 20));
    },
  });
  task.end();
  throwIfInterrupted(context.signal);
  if (pulled.code !== 0) throw new Unusable(`Docker can't pull ${image} (${lastLine(pulled.output)})`);
}

function lastLine(output: string): string {
  return reasonOf(output.trim().split('\n').at(-1) ?? '');
}

/** Compose reads every port and the password whatever it is asked to do: each call names them all. */
function composeEnv(env: NodeJS.ProcessEnv, name: ServiceName, port: number, password: string): NodeJS.ProcessEnv {
  const ports = SERVICE_NAMES.map((each) => [`HOLDFAST_STACK_${each.toUpperCase()}_PORT`, '0'] as const);
  return {
    ...env,
    ...Object.fromEntries(ports),
    [`HOLDFAST_STACK_${name.toUpperCase()}_PORT`]: String(port),
    HOLDFAST_STACK_PASSWORD: password,
  };
}

let turn: Promise<unknown> = Promise.resolve();

/** One at a time: two that start in the same project would both make its network, and two bars share one line. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = turn.then(work, work);
  turn = mine.catch(() => undefined);
  return mine;
}

async function startInCompose(name: ServiceName, context: StartContext): Promise<StartedService> {
  const docker = await findDocker(context.env);
  await inTurn(() => ensureImage(docker, name, context));
  const project = projectOf(context.dataDir);
  const password = await keptPassword(join(secretFolder(context.dataDir), 'password'));
  const port = await freePort(context.earlier?.composeProject === undefined ? undefined : context.earlier.ports[0]);
  const env = composeEnv(context.env, name, port, password);
  const compose = ['compose', '-f', COMPOSE_FILE, '-p', project];
  context.progress.say(`Starting ${SERVICE_TITLES[name]} in Docker`);
  const wait = ['--wait', '--wait-timeout', String(READY_TIMEOUT_S)];
  const { signal } = context;
  const up = await inTurn(() => docker([...compose, 'up', '-d', '--no-deps', ...wait, name], { env, signal }));
  const stop = async (): Promise<void> => {
    await docker([...compose, 'rm', '--stop', '--force', name], { env });
  };
  const address = containerAddress(name, port, password);
  try {
    throwIfInterrupted(context.signal);
    if (up.code !== 0) throw new Unusable(`Docker Compose could not start it (${lastLine(up.output)})`);
    await probe(name, address);
  } catch (error) {
    await stop();
    throw error;
  }
  const holder = context.detached ? undefined : identify(process.pid);
  const record: ServiceRecord = {
    name,
    source: 'docker',
    detail: `${SERVICE_TITLES[name]} in Docker (${await composeImage(name)}, project ${project})`,
    address,
    ports: [port],
    composeProject: project,
    ...(holder ? { heldBy: holder } : {}),
  };
  return { record, stop, release: () => undefined };
}

/** True when containers were ever started for the stack in that folder. */
export function usesCompose(dataDir: string): boolean {
  return existsSync(secretFolder(dataDir));
}

/**
 * Removes the stack's containers and network; with `deleteData` its volumes too.
 * @throws StackError when Docker does not do it.
 */
export async function removeProject(dataDir: string, env: NodeJS.ProcessEnv, deleteData: boolean): Promise<void> {
  const project = projectOf(dataDir);
  const args = ['compose', '-f', COMPOSE_FILE, '-p', project, 'down', ...(deleteData ? ['--volumes'] : [])];
  let problem: string;
  try {
    const docker = await findDocker(env);
    const { code, output } = await docker(args, { env: composeEnv(env, 'kafka', 0, 'unused') });
    if (code === 0) return;
    problem = lastLine(output);
  } catch (error) {
    problem = reasonOf(error);
  }
  const sentence = `The containers of project ${project} could not be removed, as ${problem}`;
  throw new StackError('service_unavailable', `${sentence}; mend it with: docker compose -p ${project} down`);
}

/** Containers for use: named, with volumes, left to Compose. */
export const composeContainers: ContainerSource = { start: startInCompose };
