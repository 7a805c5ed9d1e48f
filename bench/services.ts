import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServices, streamProgress } from '../src/stack/index.js';
import type { ServiceName, ServiceRecord } from '../src/stack/index.js';

export interface BenchServices {
  recordOf(name: ServiceName): ServiceRecord;
  /** Stops what was started here and removes its data. */
  stop(): Promise<void>;
}

/** Services of the bench's own, with their data in a folder that goes with them; one named by the environment is used as it is. */
export const startBenchServices = async (names: readonly ServiceName[]): Promise<BenchServices> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-bench-'));
  // As root, the database runs as another user, who must be able to pass through.
  await chmod(dataDir, 0o755);
  const controller = new AbortController();
  const interrupt = (): void => controller.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const remove = (): Promise<void> => rm(dataDir, { recursive: true, force: true });
  try {
    const started = await startServices(names, {
      dataDir,
      progress: streamProgress(process.stderr),
      signal: controller.signal,
    });
    return {
      recordOf: (name) => {
        const service = started.services.get(name);
        if (service === undefined) throw new Error(`${name} was not started.`);
        return service.record;
      },
      stop: async () => {
        await started.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
};
