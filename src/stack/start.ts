/** Bringing up a stack: each service joined if it runs, else started from the first source that works. */
import { resolve } from 'node:path';
import { startFromFirst, type ContainerSource, type StartContext } from './candidates.js';
import { composeContainers } from './compose.js';
import { StackError, reasonOf } from './errors.js';
import { withStackLock } from './lock.js';
import { probe } from './probes.js';
import { endProcess, isAlive } from './processes.js';
import { silentProgress, type Progress } from './progress.js';
import {
  ADDRESS_VARIABLES,
  SERVICE_NAMES,
  SERVICE_TITLES,
  STOP_SIGNALS,
  allowedSources,
  type ServiceName,
  type ServiceRecord,
  type SourceKind,
  type StartedService,
} from './services.js';
import { defaultDataDir, readState, writeState, type StackState } from './state.js';

export interface StackOptions {
  /** Where data, logs and state lie; default `.holdfast/stack` in the current folder. */
  readonly dataDir?: string;
  /** The sources that may be used; their order is fixed. Default: what HOLDFAST_STACK_SOURCES says, else all. */
  readonly sources?: readonly SourceKind[];
  readonly env?: NodeJS.ProcessEnv;
  readonly progress?: Progress;
  /** Aborting it while the stack starts stops what was started and rejects with `stack_interrupted`. */
  readonly signal?: AbortSignal;
  /** True leaves the services running after this program ends; default false: they end with it, even on SIGKILL. */
  readonly detached?: boolean;
  /** How containers are started; default Docker Compose with this package's docker-compose.yml. */
  readonly containers?: ContainerSource;
}

/** One service of a running stack. */
export interface RunningService {
  readonly record: ServiceRecord;
  /** True when it ran before and was only joined: `stop` leaves it alone. */
  readonly joined: boolean;
}

export interface StartedServices {
  readonly services: ReadonlyMap<ServiceName, RunningService>;
  /** Stops what was started here, not what was found running. Idempotent. */
  stop(): Promise<void>;
}

type SharedContext = Omit<StartContext, 'earlier'>;

function isNamed(name: ServiceName, context: SharedContext): boolean {
  const address = context.env[ADDRESS_VARIABLES[name]];
  return context.sources.includes('environment') && address !== undefined && address !== '';
}

/** True when a service that the state file names runs, answers and is nobody's leftover; ends it otherwise. */
async function canJoin(record: ServiceRecord, context: SharedContext): Promise<boolean> {
  if (record.process && !isAlive(record.process)) return false;
  const leftOver = record.heldBy !== undefined && !isAlive(record.heldBy);
  const answers = await probe(record.name, record.address).then(
    () => true,
    () => false,
  );
  if (answers && !leftOver) return true;
  if (record.process) {
    const why = leftOver ? 'was left over' : 'does not answer';
    context.progress.say(`${SERVICE_TITLES[record.name]} (process ${record.process.pid}) ${why}: stopping it`);
    await endProcess(record.process, STOP_SIGNALS[record.name]);
  }
  return false;
}

interface Outcome extends RunningService {
  readonly handle: StartedService | undefined;
}

async function obtain(name: ServiceName, state: StackState, context: SharedContext): Promise<Outcome> {
  const earlier = state[name];
  if (earlier && !isNamed(name, context) && (await canJoin(earlier, context))) {
    return { record: earlier, joined: true, handle: undefined };
  }
  const handle = await startFromFirst(name, { ...context, earlier });
  return { record: handle.record, joined: handle.record.source === 'environment', handle };
}

/** Starts all at once; the first failure ends the others' work and stops what has started. */
async function obtainAll(names: readonly ServiceName[], context: SharedContext, abort: () => void): Promise<Outcome[]> {
  const state = await readState(context.dataDir);
  const outcomes: Outcome[] = [];
  let failure: unknown;
  const one = async (name: ServiceName): Promise<void> => {
    try {
      const outcome = await obtain(name, state, context);
      outcomes.push(outcome);
      if (outcome.record.source === 'environment' || outcome.joined) return;
      state[name] = outcome.record;
      await writeState(context.dataDir, state);
    } catch (error) {
      failure ??= error;
      abort();
    }
  };
  await Promise.all(names.map(one));
  if (failure === undefined) return outcomes;
  await stopAll(outcomes, context.dataDir);
  throw failure instanceof Error ? failure : new Error(reasonOf(failure));
}

/** Stops what has a handle. The state keeps their ports, so that they come back at the same address. */
async function stopAll(outcomes: readonly Outcome[], dataDir: string): Promise<void> {
  const own = outcomes.filter((outcome) => outcome.handle !== undefined && !outcome.joined);
  await Promise.all(own.map(async (outcome) => outcome.handle?.stop()));
  if (own.length === 0) return;
  const state = await readState(dataDir);
  for (const { record } of own) {
    const known = state[record.name];
    if (known?.process?.startToken === record.process?.startToken) state[record.name] = record;
  }
  await writeState(dataDir, state);
}

function linked(outer: AbortSignal | undefined): AbortController {
  const controller = new AbortController();
  if (outer?.aborted) controller.abort();
  outer?.addEventListener('abort', () => controller.abort(), { once: true });
  return controller;
}

/**
 * Starts the services named, all at once.
 * @throws StackError `service_unavailable` when one can't be had (the others are stopped again), `stack_interrupted`
 * when the signal fires, `stack_busy` when another command holds the folder.
 */
export async function startServices(names: readonly ServiceName[], options: StackOptions): Promise<StartedServices> {
  const dataDir = resolve(options.dataDir ?? defaultDataDir());
  const progress = options.progress ?? silentProgress;
  const controller = linked(options.signal);
  const env = options.env ?? process.env;
  const context: SharedContext = {
    dataDir,
    env,
    progress,
    signal: controller.signal,
    sources: options.sources ?? allowedSources(env),
    detached: options.detached ?? false,
    containers: options.containers ?? composeContainers,
  };
  const outcomes = await withStackLock(dataDir, progress, options.signal, () =>
    obtainAll(names, context, () => controller.abort()),
  );
  if (context.detached) for (const outcome of outcomes) outcome.handle?.release();
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    (stopping ??= withStackLock(dataDir, progress, undefined, () => stopAll(outcomes, dataDir)));
  return { services: new Map(outcomes.map((outcome) => [outcome.record.name, outcome])), stop };
}

/** Where a service is, and where it keeps its things (absent when it was named by the environment). */
export interface ServicePlace {
  readonly source: SourceKind;
  readonly detail: string;
  readonly pid?: number;
  readonly dataDir?: string;
  readonly logFile?: string;
}

/** The addresses of a running stack. */
export interface RunningStack {
  readonly postgres: ServicePlace & { readonly url: string };
  readonly redis: ServicePlace & { readonly url: string };
  readonly kafka: ServicePlace & { readonly brokers: readonly string[] };
  /** Stops what was started here, not what was found running. Idempotent. */
  stop(): Promise<void>;
}

function placeOf(record: ServiceRecord): ServicePlace {
  return {
    source: record.source,
    detail: record.detail,
    ...(record.process ? { pid: record.process.pid } : {}),
    ...(record.dataDir === undefined ? {} : { dataDir: record.dataDir }),
    ...(record.logFile === undefined ? {} : { logFile: record.logFile }),
  };
}

/** Starts PostgreSQL, Redis and Kafka, or joins those that run; see `startServices` for what it throws. */
export async function startStack(options: StackOptions = {}): Promise<RunningStack> {
  const started = await startServices(SERVICE_NAMES, options);
  const recordOf = (name: ServiceName): ServiceRecord => {
    const service = started.services.get(name);
    if (service === undefined) throw new StackError('service_unavailable', `${SERVICE_TITLES[name]} was not started`);
    return service.record;
  };
  const [postgres, redis, kafka] = [recordOf('postgres'), recordOf('redis'), recordOf('kafka')];
  return {
    postgres: { ...placeOf(postgres), url: postgres.address },
    redis: { ...placeOf(redis), url: redis.address },
    kafka: { ...placeOf(kafka), brokers: kafka.address.split(',').map((broker) => broker.trim()) },
    stop: () => started.stop(),
  };
}
