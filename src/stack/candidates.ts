/** The sources of a service, tried in order until one works; or one sentence on why none does. */
import { join } from 'node:path';
import { StackError, reasonOf, throwIfInterrupted, withoutPassword } from './errors.js';
import { Unusable, type LocalService, type ProgramFinder } from './local-program.js';
import { localKafka } from './kafka.js';
import { localPostgres } from './postgres.js';
import { localRedis } from './redis.js';
import { probe } from './probes.js';
import { identify } from './processes.js';
import type { Progress } from './progress.js';
import {
  ADDRESS_VARIABLES,
  SERVICE_TITLES,
  type ServiceName,
  type ServiceRecord,
  type SourceKind,
  type StartedService,
} from './services.js';

export const LOCAL_SERVICES: Readonly<Record<ServiceName, LocalService>> = {
  postgres: localPostgres,
  redis: localRedis,
  kafka: localKafka,
};

/** All that a source needs to know to start a service. */
export interface StartContext {
  /** The stack's folder, absolute. */
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly sources: readonly SourceKind[];
  /** False when what is started must end with this program. */
  readonly detached: boolean;
  readonly containers: ContainerSource;
  /** The same service as it last ran, whose ports are kept when they are free. */
  readonly earlier: ServiceRecord | undefined;
}

/** Something that starts services in containers. */
export interface ContainerSource {
  /** @throws Unusable when there is no engine, or it has no image and can't get one. */
  start(name: ServiceName, context: StartContext): Promise<StartedService>;
}

interface Candidate {
  readonly source: SourceKind;
  start(): Promise<StartedService>;
}

/** The service as the environment names it; undefined when it does not. @throws StackError when it does not answer. */
export async function fromEnvironment(name: ServiceName, env: NodeJS.ProcessEnv): Promise<ServiceRecord | undefined> {
  const variable = ADDRESS_VARIABLES[name];
  const address = env[variable];
  if (address === undefined || address === '') return undefined;
  const title = SERVICE_TITLES[name];
  try {
    await probe(name, address);
  } catch (error) {
    const message = `${variable} names ${withoutPassword(address)}, where no ${title} answers (${reasonOf(error)})`;
    throw new StackError('service_unavailable', `${message}; mend it with: unset ${variable}`, { cause: error });
  }
  return { name, source: 'environment', detail: `${title} named by ${variable}`, address, ports: [] };
}

async function startProgram(name: ServiceName, finder: ProgramFinder, context: StartContext): Promise<StartedService> {
  const { env, progress, signal, dataDir } = context;
  const program = await finder.find({ env, progress, signal });
  throwIfInterrupted(signal);
  progress.say(`Starting ${program.detail}`);
  const logFile = join(dataDir, 'logs', `${name}.log`);
  const launched = await program.launch({
    folder: join(dataDir, name),
    logFile,
    ports: context.earlier?.ports,
    signal,
  });
  const holder = context.detached ? undefined : identify(process.pid);
  const record: ServiceRecord = {
    name,
    source: program.source,
    detail: program.detail,
    address: launched.address,
    ports: launched.ports,
    process: launched.process.identity,
    dataDir: launched.dataDir,
    logFile,
    ...(holder ? { heldBy: holder } : {}),
  };
  return { record, stop: () => launched.process.stop(), release: () => launched.process.release() };
}

function candidatesFor(name: ServiceName, context: StartContext): Candidate[] {
  const docker: Candidate = { source: 'docker', start: () => context.containers.start(name, context) };
  const local = LOCAL_SERVICES[name].finders.map((finder): Candidate => ({
    source: finder.source,
    start: () => startProgram(name, finder, context),
  }));
  return [docker, ...local].filter((candidate) => context.sources.includes(candidate.source));
}

function joined(reasons: readonly string[]): string {
  return reasons.length < 2 ? reasons.join('') : `${reasons.slice(0, -1).join(', ')} and ${reasons.at(-1) ?? ''}`;
}

/**
 * Starts the service from the first source that works.
 * @throws StackError `service_unavailable` with every source's reason and the command that mends the first that can be.
 */
export async function startFromFirst(name: ServiceName, context: StartContext): Promise<StartedService> {
  if (context.sources.includes('environment')) {
    const record = await fromEnvironment(name, context.env);
    if (record) return { record, stop: () => Promise.resolve(), release: () => undefined };
  }
  const reasons: string[] = [];
  let mend: string | undefined;
  for (const candidate of candidatesFor(name, context)) {
    throwIfInterrupted(context.signal);
    try {
      return await candidate.start();
    } catch (error) {
      throwIfInterrupted(context.signal);
      const reason = reasonOf(error);
      if (!reasons.includes(reason)) reasons.push(reason);
      mend ??= error instanceof Unusable ? error.mend : undefined;
    }
  }
  const why = reasons.length === 0 ? 'no source is allowed' : joined(reasons);
  const how = mend ?? `export ${ADDRESS_VARIABLES[name]}=…`;
  throw new StackError('service_unavailable', `${SERVICE_TITLES[name]} can't be had, as ${why}; mend it with: ${how}`);
}

/**
 * The first program of a service that is installed or can be fetched, for starting private copies of it.
 * @throws Unusable with the last source's reason.
 */
export async function findLocalProgram(name: ServiceName, env: NodeJS.ProcessEnv, progress: Progress) {
  let failure: unknown;
  for (const finder of LOCAL_SERVICES[name].finders) {
    try {
      return await finder.find({ env, progress });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
