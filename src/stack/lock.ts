/** One at a time: on a stack's folder, on the cache that all stacks share. */
import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StackError, throwIfInterrupted } from './errors.js';
import { identify, isAlive } from './processes.js';
import type { Progress } from './progress.js';
import type { ProcessIdentity } from './services.js';

export interface LockOptions {
  /** In words, what the holder is busy with: "at work on this stack". */
  readonly busyWith: string;
  readonly waitMs: number;
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}

async function holderOf(file: string): Promise<ProcessIdentity | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as ProcessIdentity);
}

/** Removes the lock of a holder that is gone, unless another took it over in between. */
async function evict(file: string, holder: ProcessIdentity): Promise<void> {
  const aside = `${file}.${randomBytes(4).toString('hex')}`;
  await rename(file, aside).catch(() => undefined);
  const moved = await holderOf(aside);
  if (moved && moved.startToken !== holder.startToken) await link(aside, file).catch(() => undefined);
  await rm(aside, { force: true });
}

async function acquire(file: string, options: LockOptions): Promise<void> {
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  await writeFile(draft, JSON.stringify(identify(process.pid)));
  const deadline = Date.now() + options.waitMs;
  let told = false;
  try {
    for (;;) {
      throwIfInterrupted(options.signal);
      const taken = await link(draft, file).then(
        () => true,
        () => false,
      );
      if (taken) return;
      const holder = await holderOf(file);
      if (holder && !isAlive(holder)) {
        await evict(file, holder);
        continue;
      }
      if (holder && Date.now() > deadline) {
        const sentence = `Process ${holder.pid} is ${options.busyWith} and does not finish`;
        throw new StackError('stack_busy', `${sentence}; mend it with: kill ${holder.pid}`);
      }
      if (holder && !told && holder.pid !== process.pid) {
        options.progress.say(`Waiting for process ${holder.pid}, which is ${options.busyWith} …`);
        told = true;
      }
      await sleep(100);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Runs the work while nobody else holds the folder's lock. A holder that died does not block.
 * @throws StackError `stack_busy` after waiting for a living one as long as allowed.
 */
export async function withLock<T>(folder: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'lock');
  await acquire(file, options);
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

/** `withLock` for a stack's own folder: waits up to three minutes for another command. */
export function withStackLock<T>(
  dataDir: string,
  progress: Progress,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  return withLock(dataDir, { busyWith: 'at work on this stack', waitMs: 180_000, progress, signal }, work);
}
