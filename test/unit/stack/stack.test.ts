import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readFileSync } from 'node:fs';
import { StackError, silentProgress, streamProgress } from '../../../src/stack/index.js';
import { withoutPassword } from '../../../src/stack/errors.js';
import { atLeast, majorOf } from '../../../src/stack/launching.js';
import { withLock } from '../../../src/stack/lock.js';
import { cacheFolder } from '../../../src/stack/maven.js';
import { PACKAGE_ROOT } from '../../../src/stack/package-root.js';
import { freePort, saysPortTaken } from '../../../src/stack/ports.js';
import { identify, isAlive } from '../../../src/stack/processes.js';
import { readState, writeState } from '../../../src/stack/state.js';

describe('versions', () => {
  test('are compared by their numbers, not as text', () => {
    expect(atLeast('10.0.1', '9.6')).toBe(true);
    expect(atLeast('6.2.11', '7.0.15')).toBe(false);
    expect(atLeast('7.0.15', '7.0.20')).toBe(true);
    expect(majorOf('18.4')).toBe(18);
  });
});

describe('addresses', () => {
  test('lose their password before they are shown', () => {
    expect(withoutPassword('postgres://u:s3cret@h:1/d')).toBe('postgres://u:***@h:1/d');
    expect(withoutPassword('redis://:s3cret@h:1')).toBe('redis://:***@h:1');
    expect(withoutPassword('127.0.0.1:9092')).toBe('127.0.0.1:9092');
  });

  test('keep their port while it is free', async () => {
    const port = await freePort();
    expect(await freePort(port)).toBe(port);
    expect(saysPortTaken('bind: Address already in use')).toBe(true);
  });
});

describe('the cache', () => {
  test('lies where the XDG convention says', () => {
    expect(cacheFolder({ XDG_CACHE_HOME: '/c', HOME: '/h' })).toBe('/c/holdfast');
    expect(cacheFolder({ XDG_CACHE_HOME: '', HOME: '/h' })).toBe('/h/.cache/holdfast');
  });
});

describe('processes', () => {
  test('are told apart although they share a number', async () => {
    const child = spawn('/bin/sleep', ['60']);
    const identity = identify(child.pid ?? 0);
    expect(identity && isAlive(identity)).toBe(true);
    expect(identity && isAlive({ ...identity, startToken: 'another' })).toBe(false);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    expect(identity && isAlive(identity)).toBe(false);
  });
});

describe('progress', () => {
  test('is plain lines where nobody watches, few of them, and never more than there is', () => {
    const lines: string[] = [];
    const task = streamProgress({ write: (text) => lines.push(text) }).task('Fetching', 8);
    for (let done = 1; done <= 12; done++) task.advance(done, 'a file');
    task.end();
    expect(lines).toEqual([
      'Fetching …\n',
      'Fetching: 2 of 8\n',
      'Fetching: 4 of 8\n',
      'Fetching: 6 of 8\n',
      'Fetching: 8 of 8\n',
      'Fetching: done\n',
    ]);
  });
});

describe('a folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-unit-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const lock = { busyWith: 'at work', waitMs: 5_000, progress: silentProgress };

  test('is worked on by one at a time', async () => {
    const order: string[] = [];
    const work = (name: string) => async () => {
      order.push(`${name} in`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} out`);
    };
    await Promise.all(['a', 'b', 'c'].map((name) => withLock(folder, lock, work(name))));
    for (let index = 0; index < order.length; index += 2) {
      expect(order[index + 1]).toBe(order[index]?.replace('in', 'out'));
    }
  });

  test('is not blocked by a holder that died', async () => {
    await writeFile(join(folder, 'lock'), JSON.stringify({ pid: process.pid, startToken: 'long ago' }));
    expect(await withLock(folder, lock, () => Promise.resolve('done'))).toBe('done');
  });

  test('that a living holder keeps is given up on in words', async () => {
    await writeFile(join(folder, 'lock'), JSON.stringify(identify(process.pid)));
    const failure = withLock(folder, { ...lock, waitMs: 50 }, () => Promise.resolve());
    await expect(failure).rejects.toThrow(`Process ${process.pid} is at work and does not finish; mend it with: kill`);
    await expect(failure).rejects.toBeInstanceOf(StackError);
  });

  test('gives back the state that was written, and refuses one it can not read', async () => {
    expect(await readState(folder)).toEqual({});
    const record = { name: 'redis', source: 'path', detail: 'x', address: 'redis://h', ports: [1] } as const;
    await writeState(folder, { redis: record });
    expect(await readState(folder)).toEqual({ redis: record });
    await writeFile(join(folder, 'state.json'), '{"format":9}');
    await expect(readState(folder)).rejects.toMatchObject({ code: 'state_unreadable', exitCode: 3 });
  });
});

describe('docker-compose.yml', () => {
  interface Service {
    readonly image: string;
    readonly ports?: readonly string[];
    readonly command?: readonly string[];
    readonly healthcheck?: unknown;
    readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  }
  const text = readFileSync(join(PACKAGE_ROOT, 'docker-compose.yml'), 'utf8');
  const { services } = parse(text, { merge: true }) as { readonly services: Readonly<Record<string, Service>> };

  test('pins every tag, publishes on loopback only, and never lets Redis evict', () => {
    expect(Object.keys(services).toSorted()).toEqual(['holdfast', 'kafka', 'migrate', 'postgres', 'redis']);
    for (const { image, ports } of Object.values(services)) {
      expect(image).toMatch(/:\d+\.\d+(\.\d+)?$/);
      for (const port of ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
    expect(services['redis']?.command?.join(' ')).toContain('--maxmemory-policy noeviction --appendonly yes');
  });

  test('starts the program only when what it stands on is ready', () => {
    expect(services['holdfast']?.depends_on).toEqual({
      migrate: { condition: 'service_completed_successfully' },
      redis: { condition: 'service_healthy' },
      kafka: { condition: 'service_healthy' },
    });
    for (const name of ['postgres', 'redis', 'kafka']) expect(services[name]?.healthcheck).toBeDefined();
  });
});
