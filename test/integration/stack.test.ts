/** `holdfast stack`: what it starts, what it leaves, what it says. Redis stands for the three where one is enough. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stackCommand } from '../../src/cli/stack.js';
import {
  SERVICE_NAMES,
  stackStatus,
  startServices,
  stopStack,
  type Progress,
  type ServiceName,
  type StackOptions,
} from '../../src/stack/index.js';
import { probe, probeRedis } from '../../src/stack/probes.js';
import { identify, isAlive } from '../../src/stack/processes.js';
import { readState } from '../../src/stack/state.js';
import { runStackProgram } from '../stack/stack-program.js';

// What the developer's shell or the test run itself names must not decide what is started here.
const env: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_')),
);
// Containers have their own logs and no process here: they are the matter of another test.
env['HOLDFAST_STACK_SOURCES'] = 'path,package';
const LOCAL = ['environment', 'path', 'package'] as const;

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'holdfast-stack-'));
  await chmod(dataDir, 0o755);
});
afterEach(async () => {
  await stopStack({ dataDir, env, deleteData: true });
  await rm(dataDir, { recursive: true, force: true });
});

async function up(names: readonly ServiceName[], options: StackOptions = {}) {
  const started = await startServices(names, { dataDir, env, sources: LOCAL, ...options });
  return {
    stop: () => started.stop(),
    service: (name: ServiceName) => {
      const service = started.services.get(name);
      if (service === undefined) throw new Error(`${name} was not started`);
      return service;
    },
  };
}

/** Runs the command in this process. */
async function command(...args: string[]): Promise<{ code: unknown; out: string; messages: string }> {
  const written = { out: '', messages: '' };
  const before = { ...process.env };
  for (const name of Object.keys(before)) if (name.startsWith('HOLDFAST_')) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  try {
    const output = {
      out: (text: string) => (written.out += text),
      messages: { write: (text: string) => (written.messages += text) },
    };
    await stackCommand(output).parseAsync(args, { from: 'user' });
    return { ...written, code: process.exitCode };
  } finally {
    Reflect.deleteProperty(process.env, 'HOLDFAST_STACK_SOURCES');
    Object.assign(process.env, before);
    process.exitCode = undefined;
  }
}

describe('a stack that is left running', () => {
  test('gives all three, keeps them over a second start, and leaves nothing after it is taken down', async () => {
    const first = await up(SERVICE_NAMES, { detached: true });
    const records = SERVICE_NAMES.map((name) => first.service(name).record);
    for (const record of records) await probe(record.name, record.address);
    expect(await readState(dataDir)).toEqual(Object.fromEntries(records.map((record) => [record.name, record])));
    expect((await stat(join(dataDir, 'state.json'))).mode & 0o077).toBe(0);

    const second = await up(SERVICE_NAMES, { detached: true });
    for (const record of records) {
      expect(second.service(record.name)).toMatchObject({ joined: true, record: { process: record.process } });
    }
    await second.stop();
    expect((await stackStatus({ dataDir, env })).map((status) => status.up)).toEqual([true, true, true]);

    expect((await stopStack({ dataDir, env })).toSorted()).toEqual(['kafka', 'postgres', 'redis']);
    for (const { process } of records) expect(process && isAlive(process)).toBe(false);
    expect(await stopStack({ dataDir, env })).toEqual([]);
    expect((await stackStatus({ dataDir, env })).map((status) => status.up)).toEqual([false, false, false]);

    await stopStack({ dataDir, env, deleteData: true });
    await expect(readdir(dataDir)).rejects.toThrow(/ENOENT/);
  }, 120_000);

  test('starts again what died, at the same address', async () => {
    const first = (await up(['redis'], { detached: true })).service('redis').record;
    process.kill(first.process?.pid ?? 0, 'SIGKILL');
    while (first.process && isAlive(first.process)) await sleep(10);
    const again = (await up(['redis'], { detached: true })).service('redis');
    expect(again.joined).toBe(false);
    expect(again.record.address).toBe(first.address);
    expect(again.record.process).not.toEqual(first.process);
  });

  test('is not fooled by another process that was given the same number', async () => {
    const { record } = (await up(['redis'], { detached: true })).service('redis');
    await stopStack({ dataDir, env });
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    try {
      const pid = bystander.pid ?? 0;
      const state = { format: 1, services: { redis: { ...record, process: { ...record.process, pid } } } };
      await writeFile(join(dataDir, 'state.json'), JSON.stringify(state));
      expect(await stopStack({ dataDir, env })).toEqual([]);
      expect(identify(pid)).toBeDefined();
    } finally {
      bystander.kill('SIGKILL');
    }
  });

  test('comes from packages alone when nothing is installed', async () => {
    const { record } = (await up(['postgres'], { sources: ['package'] })).service('postgres');
    expect(record).toMatchObject({ source: 'package', detail: expect.stringContaining('PostgreSQL') as unknown });
    await probe('postgres', record.address);
  });

  test('is started once by two that start it at the same time', async () => {
    const both = await Promise.all([up(['redis'], { detached: true }), up(['redis'], { detached: true })]);
    const [one, other] = both.map((started) => started.service('redis'));
    expect(one?.record).toEqual(other?.record);
    expect([one?.joined, other?.joined].toSorted()).toEqual([false, true]);
  });
});

describe('a stack that belongs to a program', () => {
  test('is stopped by it, but what it found running is left alone', async () => {
    const found = await up(['redis'], { detached: true });
    const joined = await up(['redis']);
    await joined.stop();
    await probeRedis(found.service('redis').record.address);

    await stopStack({ dataDir, env });
    const own = await up(['redis']);
    await own.stop();
    await own.stop();
    await expect(probeRedis(own.service('redis').record.address)).rejects.toThrow(/ECONNREFUSED/);
  });

  test('leaves nothing behind when it is interrupted while it starts', async () => {
    const controller = new AbortController();
    const redisLog = join(dataDir, 'logs', 'redis.log');
    const abortOnceRedisRuns = async (): Promise<void> => {
      while (!existsSync(redisLog)) await sleep(5);
      controller.abort();
    };
    const progress: Progress = {
      say: (line) => {
        if (line.startsWith('Starting Redis')) void abortOnceRedisRuns();
      },
      task: () => ({ advance: () => undefined, end: () => undefined }),
    };
    await expect(up(['redis', 'postgres'], { progress, signal: controller.signal })).rejects.toMatchObject({
      code: 'stack_interrupted',
      exitCode: 130,
    });
    const state = await readState(dataDir);
    for (const record of Object.values(state)) expect(record.process && isAlive(record.process)).toBe(false);
  });

  test('ends with it, even when it is killed', async () => {
    const owner = await runStackProgram(
      `import { startServices } from 'SOURCES/stack/index.js';
       await startServices(['redis'], { dataDir: process.argv[2], sources: ['path', 'package'] });
       process.stdout.write('it is up');
       setInterval(() => {}, 1000);`,
      [dataDir],
      env,
    );
    await owner.said('it is up');
    const { process: redis } = (await readState(dataDir)).redis ?? {};
    expect(redis && isAlive(redis)).toBe(true);
    owner.child.kill('SIGKILL');
    expect(await owner.ended).toBeNull();
    const deadline = Date.now() + 20_000;
    while (redis && isAlive(redis) && Date.now() < deadline) await sleep(20);
    expect(redis && isAlive(redis)).toBe(false);
  });
});

describe('the command', () => {
  test('ends with 130 and leaves nothing behind when Ctrl-C is pressed while it starts', async () => {
    const program = await runStackProgram(
      `import { stackCommand } from 'SOURCES/cli/stack.js';
       await stackCommand().parseAsync(process.argv.slice(2), { from: 'user' });`,
      ['up', 'postgres', '--data-dir', dataDir],
      env,
    );
    await program.said('Starting PostgreSQL');
    program.child.kill('SIGINT');
    expect(await program.ended).toBe(130);
    const state = await readState(dataDir);
    expect(state.postgres?.process && isAlive(state.postgres.process)).toBeFalsy();
  });

  test('prints lines that a shell can read, and JSON for machines', async () => {
    const ran = await command('up', 'redis', '--data-dir', dataDir);
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/^export HOLDFAST_REDIS_URL='redis:\/\/:\w+@127\.0\.0\.1:\d+'\n$/);
    expect(ran.messages).toContain(join(dataDir, 'logs', 'redis.log'));

    const again = await command('up', 'redis', '--data-dir', dataDir, '--json');
    expect(JSON.parse(again.out)).toMatchObject({ services: [{ name: 'redis', joined: true }] });

    const status = await command('status', '--data-dir', dataDir, '--json');
    expect(status.code).toBe(1);
    expect(JSON.parse(status.out)).toMatchObject({ services: [{ up: false }, { up: true }, { up: false }] });

    const down = await command('down', '--data-dir', dataDir, '--delete-data', '--json');
    expect(down).toMatchObject({ code: 0, out: '{"stopped":["redis"],"dataDeleted":true}\n' });
  });
});

describe('what can not be had', () => {
  test('is said in one sentence with what would mend it, and nothing is left running', async () => {
    const empty = { PATH: '', HOME: dataDir };
    await expect(up(['redis'], { env: empty, sources: ['docker', 'path', 'package'] })).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(
        /^Redis can't be had, as Docker is not installed, no redis-server is on the PATH and .*Maven.* is missing; mend it with: \S+/,
      ) as unknown,
    });
    await expect(up(['kafka'], { env: empty, sources: ['path', 'package'] })).rejects.toThrow(
      /^Kafka can't be had, as no kafka-server-start.sh is on the PATH or in KAFKA_HOME and Java is missing; mend it with: \S+/,
    );
    const path = join(dataDir, 'bin');
    await mkdir(path);
    await expect(up(['redis', 'postgres'], { env: { ...empty, PATH: path }, sources: ['path'] })).rejects.toThrow(
      /^Redis can't be had, as no redis-server is on the PATH/,
    );
    const { postgres } = await readState(dataDir);
    expect(postgres?.process && isAlive(postgres.process)).toBeFalsy();
  });

  test('a named address that does not answer is refused, its password unsaid, not replaced by another', async () => {
    const named = { ...env, HOLDFAST_REDIS_URL: 'redis://:geheim@127.0.0.1:1' };
    const failure = await up(['redis'], { env: named }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'service_unavailable', exitCode: 3 });
    expect(String(failure)).toMatch(
      /HOLDFAST_REDIS_URL names redis:\/\/:\*\*\*@127\.0\.0\.1:1.*unset HOLDFAST_REDIS_URL/,
    );
    expect(String(failure)).not.toContain('geheim');
  });

  test('a source that is none is refused', async () => {
    await expect(
      startServices(['redis'], { dataDir, env: { ...env, HOLDFAST_STACK_SOURCES: 'path,podman' } }),
    ).rejects.toThrow(/HOLDFAST_STACK_SOURCES says "podman", which is none of environment, docker, path, package/);
  });

  test('a named address that answers is used, and never stopped', async () => {
    const own = (await up(['redis'], { detached: true })).service('redis').record;
    const other = join(dataDir, 'other');
    const named = { ...env, HOLDFAST_REDIS_URL: own.address };
    const started = await startServices(['redis'], { dataDir: other, env: named, sources: LOCAL });
    expect(started.services.get('redis')?.record).toMatchObject({ source: 'environment', address: own.address });
    await started.stop();
    expect(await stopStack({ dataDir: other, env: named, deleteData: true })).toEqual([]);
    await probeRedis(own.address);
  });

  test('data of a version that this one can not open are refused, not replaced', async () => {
    await up(['redis']).then((started) => started.stop());
    await writeFile(join(dataDir, 'redis', 'made-by'), '99.0.0\n');
    await expect(up(['redis'], { sources: ['path'] })).rejects.toThrow(/made by Redis 99\.0\.0.*--delete-data/);
    await writeFile(join(dataDir, 'redis', 'made-by'), '6.0.0\n');
    await up(['redis']).then((started) => started.stop());
    expect(await readFile(join(dataDir, 'redis', 'made-by'), 'utf8')).not.toContain('6.0.0\n');
  });
});
