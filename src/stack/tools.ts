/** One-off commands (initdb, mvn, docker …): run to their end, output collected. */
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { RunAs } from './processes.js';

const KEPT_LINES = 40;

export interface ToolOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly runAs?: RunAs | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
  /** Called with each line that it prints, on either stream. */
  readonly onLine?: (line: string) => void;
}

export interface ToolResult {
  /** 0 when all went well; null when it could not start or was ended by a signal. */
  readonly code: number | null;
  /** The last lines of both streams, or why it could not start. */
  readonly output: string;
}

/** Runs a command to its end. Never rejects: a command that can't start is a result with code null. */
export function runTool(command: string, args: readonly string[], options: ToolOptions = {}): Promise<ToolResult> {
  return new Promise((resolve) => {
    const lines: string[] = [];
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options.runAs,
      ...(options.signal ? { signal: options.signal } : {}),
      ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs }),
    });
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        if (lines.length > KEPT_LINES) lines.shift();
        options.onLine?.(line);
      });
    }
    child.once('error', (error) => resolve({ code: null, output: error.message }));
    child.once('close', (code) => resolve({ code, output: lines.join('\n') }));
  });
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * The program of that name in the first folder that has it; undefined when none does. Links are left as they are: some
 * programs (redis-server among them) go by the name that they are called by.
 */
export function findProgram(name: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

/** The folders of PATH. */
export function pathFolders(env: NodeJS.ProcessEnv): string[] {
  return (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
}
