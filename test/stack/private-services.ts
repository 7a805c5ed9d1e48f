/** Services of a test file's own, to be stopped, killed, frozen and brought back without disturbing anybody else. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findLocalProgram } from '../../src/stack/candidates.js';
import type { Launched } from '../../src/stack/local-program.js';
import { isAlive } from '../../src/stack/processes.js';
import { streamProgress } from '../../src/stack/progress.js';
import { outsideFolder } from '../../src/stack/run-as.js';
import type { ServiceName } from '../../src/stack/services.js';
import { processTree, signalAll } from './process-tree.js';

/** A service that one test file owns. Whatever the test does to it, it ends with the test's process. */
export interface PrivateService {
  readonly name: ServiceName;
  /** A URL, or for Kafka `host:port`: stays the same over restarts. */
  readonly url: string;
  readonly port: number;
  /** Where its data lie; may be read, copied and replaced while it is stopped. */
  readonly dataDir: string;
  readonly logFile: string;
  /** Its process now; another one after a restart. */
  pid(): number;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Ends it and its children by SIGKILL, and waits until they are gone. */
  kill9(): Promise<void>;
  /** Freezes it: connections stay open and nothing answers. */
  pause(): void;
  resume(): void;
  /** Stops it when it runs, and starts it on the same port and data; resolves when it answers. */
  restart(): Promise<void>;
  /** Ends it and deletes its data. To be called in `afterAll`. */
  remove(): Promise<void>;
}

async function endOf(launched: Launched): Promise<void> {
  while (isAlive(launched.process.identity)) await sleep(10);
}

/** Starts one. @throws Unusable when the service can neither be found nor fetched on this machine. */
export async function startPrivate(name: ServiceName): Promise<PrivateService> {
  const folder = await mkdtemp(join(tmpdir(), `holdfast-private-${name}-`));
  await chmod(folder, 0o755);
  const logFile = join(folder, `${name}.log`);
  const program = await findLocalProgram(name, process.env, streamProgress(process.stderr));
  const place = { folder: join(folder, name), logFile };
  let current = await program.launch(place);
  const { address: url, dataDir, ports } = current;
  const kill9 = async (): Promise<void> => {
    signalAll(processTree(current.process.identity.pid), 'SIGKILL');
    await endOf(current);
  };
  return {
    name,
    url,
    port: ports[0] ?? 0,
    dataDir,
    logFile,
    pid: () => current.process.identity.pid,
    stop: () => current.process.stop(),
    kill9,
    pause: () => signalAll(processTree(current.process.identity.pid), 'SIGSTOP'),
    resume: () => signalAll(processTree(current.process.identity.pid), 'SIGCONT'),
    restart: async () => {
      await current.process.stop();
      current = await program.launch({ ...place, ports });
      if (current.address !== url) throw new Error(`${name} came back at another address: its port was taken`);
    },
    remove: async () => {
      if (isAlive(current.process.identity)) await kill9();
      await rm(folder, { recursive: true, force: true });
      await rm(outsideFolder(join(place.folder, 'cluster')), { recursive: true, force: true });
    },
  };
}
