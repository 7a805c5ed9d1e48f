/** Taking a stack down, and saying how it is. */
import { rm, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fromEnvironment } from './candidates.js';
import { removeProject, usesCompose } from './compose.js';
import { reasonOf } from './errors.js';
import { withStackLock } from './lock.js';
import { probe } from './probes.js';
import { endProcess, isAlive } from './processes.js';
import { silentProgress, type Progress } from './progress.js';
import { outsideFolder } from './run-as.js';
import {
  SERVICE_NAMES,
  SERVICE_TITLES,
  STOP_SIGNALS,
  type ServiceName,
  type ServiceRecord,
  type SourceKind,
} from './services.js';
import { defaultDataDir, readState, stateFileOf } from './state.js';

export interface StopOptions {
  readonly dataDir?: string;
  /** Also deletes databases, logs and state. Default false. */
  readonly deleteData?: boolean;
  readonly env?: NodeJS.ProcessEnv;
  readonly progress?: Progress;
}

/** Whether it runs: a process by its identity, a container by whether it answers. */
function runs(record: ServiceRecord): Promise<boolean> {
  if (record.process) return Promise.resolve(isAlive(record.process));
  return probe(record.name, record.address).then(
    () => true,
    () => false,
  );
}

async function stopOne(record: ServiceRecord, options: StopOptions): Promise<boolean> {
  const running = await runs(record);
  if (running) options.progress?.say(`Stopping ${SERVICE_TITLES[record.name]}`);
  if (record.process) await endProcess(record.process, STOP_SIGNALS[record.name]);
  return running;
}

/** Deletes what a stack makes in its folder, by name: the folder may be one that holds other things too. */
async function deleteAll(dataDir: string): Promise<void> {
  for (const made of [...SERVICE_NAMES, 'docker', 'logs']) {
    await rm(join(dataDir, made), { recursive: true, force: true });
  }
  await rm(outsideFolder(join(dataDir, 'postgres', 'cluster')), { recursive: true, force: true });
  await rm(stateFileOf(dataDir), { force: true });
}

/**
 * Stops every service that was started in the folder, each only if it is still the process that was started. Ports and
 * passwords are kept, so that the next start has the same addresses. Resolves with the names of those that ran.
 * @throws StackError `stack_busy` when another command holds the folder.
 */
export async function stopStack(options: StopOptions = {}): Promise<ServiceName[]> {
  const dataDir = resolve(options.dataDir ?? defaultDataDir());
  const stopped = await withStackLock(dataDir, options.progress ?? silentProgress, undefined, async () => {
    const records = Object.values(await readState(dataDir));
    const ran = await Promise.all(records.map((record) => stopOne(record, options)));
    if (usesCompose(dataDir)) await removeProject(dataDir, options.env ?? process.env, options.deleteData ?? false);
    if (options.deleteData === true) await deleteAll(dataDir);
    return records.filter((_, index) => ran[index]).map((record) => record.name);
  });
  // Gone when nothing else lies in it.
  if (options.deleteData === true) await rmdir(dataDir).catch(() => undefined);
  return stopped;
}

/** How one service is. */
export interface ServiceStatus {
  readonly name: ServiceName;
  readonly up: boolean;
  /** In words: what it is, or why it is not up. */
  readonly detail: string;
  readonly source?: SourceKind;
  readonly address?: string;
  readonly pid?: number;
  readonly dataDir?: string;
  readonly logFile?: string;
}

async function statusOf(
  name: ServiceName,
  record: ServiceRecord | undefined,
  env: NodeJS.ProcessEnv,
): Promise<ServiceStatus> {
  try {
    const named = await fromEnvironment(name, env);
    if (named) return { name, up: true, detail: named.detail, source: named.source, address: named.address };
  } catch (error) {
    return { name, up: false, detail: reasonOf(error), source: 'environment' };
  }
  if (record === undefined) return { name, up: false, detail: 'never started here' };
  const known = {
    name,
    source: record.source,
    address: record.address,
    ...(record.dataDir === undefined ? {} : { dataDir: record.dataDir }),
    ...(record.logFile === undefined ? {} : { logFile: record.logFile }),
  };
  if (record.process && !isAlive(record.process)) return { ...known, up: false, detail: 'stopped' };
  const pid = record.process ? { pid: record.process.pid } : {};
  return probe(name, record.address).then(
    () => ({ ...known, ...pid, up: true, detail: record.detail }),
    (error: unknown) => ({ ...known, ...pid, up: false, detail: `does not answer (${reasonOf(error)})` }),
  );
}

/** How each service is: those named by the environment are asked too. Changes nothing. */
export async function stackStatus(options: Pick<StopOptions, 'dataDir' | 'env'> = {}): Promise<ServiceStatus[]> {
  const state = await readState(resolve(options.dataDir ?? defaultDataDir()));
  return Promise.all(SERVICE_NAMES.map((name) => statusOf(name, state[name], options.env ?? process.env)));
}
