/** One command at a time on a stack's folder. */
import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StackError, throwIfInterrupted } from './errors.js';
import { identify, isAlive } from './processes.js';
import type { Progress } from './progress.js';
import type { ProcessIdentity } from './services.js';

const WAIT_MS = 180_000;

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

async function acquire(file: string, progress: Progress, signal: AbortSignal | undefined): Promise<void> {
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  await writeFile(draft, JSON.stringify(identify(process.pid)));
  const deadline = Date.now() + WAIT_MS;
  let told = false;
  try {
    for (;;) {
      throwIfInterrupted(signal);
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
        throw new StackError(
          'stack_busy',
          `Process ${holder.pid} is at work on this stack; mend it with: kill ${holder.pid}`,
        );
      }
      if (holder && !told) progress.say(`Waiting for process ${holder.pid}, which is at work on this stack …`);
      told ||= holder !== undefined;
      await sleep(100);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Runs the work while nobody else works on the same folder. A holder that died does not block.
 * @throws StackError `stack_busy` after waiting three minutes for a living one.
 */
export async function withLock<T>(
  dataDir: string,
  progress: Progress,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, 'lock');
  await acquire(file, progress, signal);
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}
