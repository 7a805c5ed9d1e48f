import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, inject, test } from 'vitest';
import { SCRIPTS, SCRIPT_NAMES } from '../../src/redis/script-contracts.js';
import type { ScriptName } from '../../src/redis/script-contracts.js';
import { assemble, LuaIncludeError, loadScripts, scriptDigests } from '../../src/redis/script-files.js';

const LUA = dirname(createRequire(import.meta.url).resolve('#lua/hold.lua'));
const scriptFiles = readdirSync(LUA).filter((file) => file.endsWith('.lua'));
const includeFiles = readdirSync(join(LUA, 'include')).map((file) => join('include', file));
const read = (file: string): string => readFileSync(join(LUA, file), 'utf8');

const words = (text: string | undefined): string[] => (text ?? '').split(/[\s,]+/).filter((word) => word !== '');

/** A client of one server, of a Cluster's too: scripts are loaded and commands described by each for itself. */
const anyServer = (): Redis => new Redis(inject('redisUrl').split(',')[0] ?? '');

/** What a header and the first lines of a script say of its keys and arguments. */
const contractIn = (text: string) => {
  const header = (name: string) => words(new RegExp(`^-- ${name}: (.*)$`, 'm').exec(text)?.[1]);
  const locals = (table: string) => words(new RegExp(`^local (.*) = unpack\\(${table}\\b`, 'm').exec(text)?.[1]);
  const [args, more] = [header('ARGV'), /^-- ARGV: .*\.\.\.|^-- {7}\.\.\. /m.test(text)];
  const named = args.includes('...') ? args.slice(0, args.indexOf('...')) : args.filter((arg) => arg !== 'none');
  return { keys: header('KEYS'), args: named, more, localKeys: locals('KEYS'), localArgs: locals('ARGV') };
};

describe('both sides name the same keys and arguments, in the same order', () => {
  test('every file is a script and every script a file', () => {
    expect(scriptFiles.map((file) => file.replace('.lua', '')).sort()).toEqual([...SCRIPT_NAMES].sort());
  });

  test.each(SCRIPT_NAMES)('%s', (name: ScriptName) => {
    const { keys, args, more } = SCRIPTS[name];
    const found = contractIn(read(`${name}.lua`));
    expect({ keys: found.keys, args: found.args, more: found.more }).toEqual({ keys, args, more });
    expect(found.localKeys).toEqual(keys);
    expect(found.localArgs).toEqual(args);
  });

  test.each(SCRIPT_NAMES)('%s: every answer that it gives is in its header', (name: ScriptName) => {
    const text = read(`${name}.lua`);
    const header = text.split('\n').filter((line) => line.startsWith('--')).join('\n'); // prettier-ignore
    const given = [...text.matchAll(/return \{ '(\w+)'/g), ...text.matchAll(/answer = \{ '(\w+)'/g)].map((m) => m[1]);
    expect(given.length).toBeGreaterThan(0);
    for (const word of given) expect(header).toMatch(new RegExp(`^-- (Answers:|        ) ${word ?? ''} ms`, 'm'));
  });
});

describe('scripts stay short and plain', () => {
  test.each([...scriptFiles, ...includeFiles])('%s has at most 50 lines of 120 characters', (file) => {
    const lines = read(file).trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(50);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(120);
  });

  test('no amount becomes a number: only times, positions, epochs, revisions and ages do', () => {
    const numbers = [...scriptFiles, ...includeFiles].flatMap((file) =>
      [...read(file).matchAll(/tonumber\(([^()]*(?:\([^()]*\))?[^()]*)\)/g)].map((m) => m[1] ?? ''),
    );
    const allowed = /deadline|known|inc|position|cp|epoch|head|revision|\^%d\+|since|ms|present|keep/;
    expect(numbers.filter((argument) => !allowed.test(argument))).toEqual([]);
  });
});

describe('includes are joined once each, before those that need them', () => {
  const files: Record<string, string> = {
    'a.lua': '-- a\n-- include: b, c\nreturn 1',
    'include/b.lua': '-- include: c\nB',
    'include/c.lua': 'C',
    'lost.lua': '-- lost\n-- include: c, none',
    'round.lua': '-- include: x',
    'include/x.lua': '--\n-- include: y',
    'include/y.lua': '-- include: x',
  };
  const from = (path: string): string | undefined => files[path];

  test('in order', () => {
    expect(assemble('a.lua', from).match(/\b[BC]\b|return 1/g)).toEqual(['C', 'B', 'return 1']);
  });

  test('a missing one is named with file and line', () => {
    expect(() => assemble('lost.lua', from)).toThrow(
      new LuaIncludeError('lua/lost.lua:2 includes include/none.lua, which does not exist'),
    );
  });

  test('a circle is named with file and line', () => {
    expect(() => assemble('round.lua', from)).toThrow(
      new LuaIncludeError(
        'lua/include/y.lua:1 includes include/x.lua in a circle: round.lua → include/x.lua → include/y.lua → include/x.lua',
      ),
    );
  });

  test('digests are those that the server gives', async () => {
    const redis = anyServer();
    for (const { name, source } of loadScripts().values())
      expect(await redis.script('LOAD', source)).toBe(scriptDigests()[name]);
    redis.disconnect();
  });
});

describe('only commands that Redis 6.0 has', () => {
  const used = [...new Set([...scriptFiles, ...includeFiles].flatMap((file) => [...read(file).matchAll(/redis\.p?call\('(\w+)'/g)].map((m) => m[1] ?? '')))]; // prettier-ignore

  test('every call names its command, so that this test sees it', () => {
    for (const file of [...scriptFiles, ...includeFiles])
      expect(read(file).match(/redis\.p?call\(/g)?.length ?? 0).toBe(read(file).match(/redis\.p?call\('[A-Z]+'/g)?.length ?? 0); // prettier-ignore
  });

  test('says the server’s own COMMAND DOCS', async ({ skip }) => {
    const redis = anyServer();
    const version = /redis_version:(\d+)/.exec(await redis.info('server'))?.[1] ?? '0';
    if (Number(version) < 7) {
      redis.disconnect();
      // Skipped on such a server: it can't be asked.
      skip('this server is older than 7.0, which brought COMMAND DOCS');
    }
    const docs = (await redis.call('COMMAND', 'DOCS', ...used)) as unknown[];
    redis.disconnect();
    const since = new Map<string, string>();
    for (let i = 0; i < docs.length; i += 2) {
      const fields = docs[i + 1] as unknown[];
      since.set(String(docs[i]).toUpperCase(), String(fields[fields.indexOf('since') + 1]));
    }
    expect([...since.keys()].sort()).toEqual([...used].sort());
    const tooNew = [...since].filter(([, v]) => v.localeCompare('6.0.99', undefined, { numeric: true }) > 0);
    expect(tooNew).toEqual([]);
  });
});
