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

let interrupted = false;

/** Runs a bench. What breaks because an interrupt has taken its services away is no news. */
export const untilInterrupted = async (bench: () => Promise<void>): Promise<void> => {
  try {
    await bench();
  } catch (error) {
    if (!interrupted) throw error;
  }
};

/** Services of the bench's own, with their data in a folder that goes with them; one named by the environment is used as it is. */
export const startBenchServices = async (names: readonly ServiceName[]): Promise<BenchServices> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-bench-'));
  // As root, the database runs as another user, who must be able to pass through.
  await chmod(dataDir, 0o755);
  const controller = new AbortController();
  // While they start, an interrupt ends the starting; afterwards, the bench.
  let interrupt = (): void => controller.abort();
  const onSignal = (): void => {
    interrupted = true;
    interrupt();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const remove = (): Promise<void> => rm(dataDir, { recursive: true, force: true });
  try {
    const started = await startServices(names, {
      dataDir,
      progress: streamProgress(process.stderr),
      signal: controller.signal,
    });
    const stop = async (): Promise<void> => {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
      await started.stop();
      await remove();
    };
    interrupt = () => void stop().finally(() => process.exit(130));
    return {
      recordOf: (name) => {
        const service = started.services.get(name);
        if (service === undefined) throw new Error(`${name} was not started.`);
        return service.record;
      },
      stop,
    };
  } catch (error) {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    await remove();
    throw error;
  }
};
