/** The state file of a stack: what was started, where it lies, and which process it is. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { StackError } from './errors.js';
import type { ServiceName, ServiceRecord } from './services.js';

const FORMAT = 1;

/** The services that were started here; those named by the environment are never in it. */
export type StackState = Partial<Record<ServiceName, ServiceRecord>>;

/** The default folder of a stack: `.holdfast/stack` in the current folder. */
export function defaultDataDir(): string {
  return resolve('.holdfast', 'stack');
}

/** Where the state of the stack in that folder is kept. */
export function stateFileOf(dataDir: string): string {
  return join(dataDir, 'state.json');
}

/**
 * Reads the state; an empty one when there is no file.
 * @throws StackError `state_unreadable` when the file holds something else.
 */
export async function readState(dataDir: string): Promise<StackState> {
  const file = stateFileOf(dataDir);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return {};
  try {
    const parsed = JSON.parse(text) as { format?: unknown; services?: StackState };
    if (parsed.format === FORMAT && parsed.services) return parsed.services;
  } catch {
    // Said below: both cases are mended the same way.
  }
  throw new StackError('state_unreadable', `${file} is not a stack's state file; mend it with: rm ${file}`);
}

/** Replaces the state in one step. The file holds passwords: only its owner may read it. */
export async function writeState(dataDir: string, services: StackState): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  const draft = `${stateFileOf(dataDir)}.${randomBytes(4).toString('hex')}`;
  await writeFile(draft, `${JSON.stringify({ format: FORMAT, services }, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, stateFileOf(dataDir));
}
