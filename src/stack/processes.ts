/** Processes: their identity, starting them so that none outlives its owner by accident, and stopping them. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessIdentity } from './services.js';

const HAS_PROC = existsSync('/proc/self/stat');
const STOP_TIMEOUT_MS = 20_000;

interface ProcessFacts {
  readonly startToken: string;
  readonly zombie: boolean;
}

function factsFromProc(pid: number): ProcessFacts | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command's name, in brackets, may hold spaces and brackets itself: count from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { startToken: fields[19] ?? '', zombie: fields[0] === 'Z' || fields[0] === 'X' };
  } catch {
    return undefined;
  }
}

function factsFromPs(pid: number): ProcessFacts | undefined {
  const shown = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' });
  const match = /^(\S+)\s+(.+)$/.exec(shown.stdout.trim());
  if (!match) return undefined;
  return { startToken: match[2] ?? '', zombie: match[1]?.startsWith('Z') ?? false };
}

function factsOf(pid: number): ProcessFacts | undefined {
  return HAS_PROC ? factsFromProc(pid) : factsFromPs(pid);
}

/** Names a living process, or undefined when there is none (a zombie counts as none). */
export function identify(pid: number): ProcessIdentity | undefined {
  const facts = factsOf(pid);
  return facts === undefined || facts.zombie ? undefined : { pid, startToken: facts.startToken };
}

/** True while that very process runs, not merely one that was given its number later. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startToken === identity.startToken;
}

/** Sends a signal to that very process; false when it is gone. Throws EPERM when it belongs to another user. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

/**
 * Ends a process: the signal, then up to 20 s of waiting, then SIGKILL. A stopped process is continued first, since
 * it could not act on the signal otherwise. Resolves once it is gone.
 */
export async function endProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  timeoutMs = STOP_TIMEOUT_MS,
): Promise<void> {
  if (!signalProcess(identity, signal)) return;
  signalProcess(identity, 'SIGCONT');
  const deadline = Date.now() + timeoutMs;
  while (isAlive(identity)) {
    if (Date.now() > deadline) {
      signalProcess(identity, 'SIGKILL');
      await sleep(50);
      return;
    }
    await sleep(20);
  }
}

/** The user that a service runs as, when it can't be the one that started it. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

export interface LaunchOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly logFile: string;
  readonly stopSignal: NodeJS.Signals;
  readonly env?: NodeJS.ProcessEnv;
  readonly runAs?: RunAs | undefined;
}

/** A service's process, in its own process group (a terminal's Ctrl-C doesn't reach it), its output in a log file. */
export interface ServiceProcess {
  readonly identity: ProcessIdentity;
  readonly exited: Promise<void>;
  /** In words how it ended; undefined while it runs. */
  ending(): string | undefined;
  stop(): Promise<void>;
  release(): void;
}

// Waits for its standard input to end. The word `done` means that all is well; an end without it means that the owner
// died (SIGKILL too), and then the service must not linger.
const WATCHDOG = `
read -r word; [ "$word" = done ] && exit 0
kill -CONT "$1" 2>/dev/null; kill -"$2" "$1" 2>/dev/null || exit 0
n=0; while kill -0 "$1" 2>/dev/null && [ $n -lt 15 ]; do sleep 1; n=$((n+1)); done
kill -KILL "$1" 2>/dev/null; exit 0`;

function guard(pid: number, stopSignal: NodeJS.Signals): () => void {
  const args = ['-c', WATCHDOG, 'holdfast-watchdog', String(pid), stopSignal.replace(/^SIG/, '')];
  const dog = spawn('/bin/sh', args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'], cwd: '/' });
  dog.on('error', () => undefined);
  dog.stdin.on('error', () => undefined);
  dog.unref();
  // A pipe is a socket here: it must not keep this program alive.
  if (dog.stdin instanceof Socket) dog.stdin.unref();
  return () => dog.stdin.end('done\n');
}

function launched(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
}

/**
 * Starts a service's process. Unless `release` is called, a small watchdog ends it when this program is gone, however
 * that came about.
 * @throws when the command can't be executed.
 */
export async function launch(options: LaunchOptions): Promise<ServiceProcess> {
  const log = openSync(options.logFile, 'a', 0o600);
  let child: ChildProcess;
  try {
    child = spawn(options.command, options.args, {
      cwd: options.cwd,
      detached: true,
      stdio: ['ignore', log, log],
      env: options.env ?? process.env,
      ...options.runAs,
    });
    await launched(child);
  } finally {
    closeSync(log);
  }
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${options.command} did not start`);
  const dismiss = guard(pid, options.stopSignal);
  let ending: string | undefined;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      ending = signal === null ? `it ended with exit code ${code ?? '?'}` : `it was ended by ${signal}`;
      dismiss();
      resolve();
    });
  });
  child.unref();
  const identity = identify(pid) ?? { pid, startToken: 'gone' };
  return {
    identity,
    exited,
    ending: () => ending,
    stop: () => endProcess(identity, options.stopSignal),
    release: dismiss,
  };
}
