/** The built program: `holdfast serve` as a process of its own, to be killed, and commands that run to their end. */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { allSettings, environmentKey } from '../../src/config/settings.js';
import type { Config } from '../../src/config/settings.js';

export interface ServerProcess {
  readonly url: string;
  readonly child: ChildProcess;
  kill9(): Promise<number | null>;
  stop(): Promise<number | null>;
}

/** The configuration as the program's environment. */
const environmentOf = (config: Config): NodeJS.ProcessEnv => {
  const environment: NodeJS.ProcessEnv = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  for (const { section, key } of allSettings()) {
    const value = (config as unknown as Record<string, Record<string, unknown>>)[section]?.[key];
    if (value !== undefined)
      environment[environmentKey(section, key)] = Array.isArray(value)
        ? value.join(',')
        : `${value as string | number | boolean}`;
  }
  return environment;
};

/** Runs a command to its end. */
export const runProgram = (config: Config, ...args: readonly string[]) =>
  spawnSync(process.execPath, ['dist/src/cli/main.js', ...args], { encoding: 'utf8', env: environmentOf(config) });

/** Starts a server and waits until it listens. */
export const startServerProcess = async (config: Config): Promise<ServerProcess> => {
  const child = spawn(process.execPath, ['dist/src/cli/main.js', 'serve'], {
    env: environmentOf(config),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  for (;;) {
    const url = /"url":"(http[^"]+)"/.exec(said)?.[1];
    if (url !== undefined) {
      const ended = async (signal: NodeJS.Signals): Promise<number | null> => {
        if (child.exitCode === null && child.signalCode === null) {
          const exit = once(child, 'exit');
          child.kill(signal);
          await exit;
        }
        return child.exitCode;
      };
      return { url, child, kill9: () => ended('SIGKILL'), stop: () => ended('SIGTERM') };
    }
    if (child.exitCode !== null) throw new Error(`The server ended at its start: ${said}`);
    await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), once(child, 'exit')]);
  }
};
