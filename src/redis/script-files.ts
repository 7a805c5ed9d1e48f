import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { SCRIPT_NAMES } from './script-contracts.js';
import type { ScriptName } from './script-contracts.js';

/** A script as the server gets it. `sha` is SHA-1 in lower-case hex: EVALSHA's name for it. */
export interface Script {
  readonly name: ScriptName;
  readonly source: string;
  readonly sha: string;
}

/** An include that is missing or goes in a circle. The message names file and line. */
export class LuaIncludeError extends Error {
  override readonly name = 'LuaIncludeError';
}

const INCLUDE = /^-- include: (.+)$/;

/** Gives the text of a file below lua/, or undefined when there is none. */
export type ReadLua = (path: string) => string | undefined;

const resolve = createRequire(import.meta.url).resolve;

const readLua: ReadLua = (path) => {
  try {
    return readFileSync(resolve(`#lua/${path}`), 'utf8');
  } catch {
    return undefined;
  }
};

/**
 * Joins a script with the fragments that it includes, directly or not: each once, before those that need it.
 * A line `-- include: a, b` asks for include/a.lua and include/b.lua. Raises LuaIncludeError.
 */
export const assemble = (path: string, read: ReadLua = readLua): string => {
  const done = new Set<string>();
  const parts: string[] = [];
  const visit = (file: string, askedBy: string, open: readonly string[]): void => {
    if (done.has(file)) return;
    if (open.includes(file))
      throw new LuaIncludeError(`${askedBy} includes ${file} in a circle: ${[...open, file].join(' → ')}`);
    const text = read(file);
    if (text === undefined) throw new LuaIncludeError(`${askedBy} includes ${file}, which does not exist`);
    for (const [index, line] of text.split('\n').entries()) {
      const names = INCLUDE.exec(line)?.[1]?.split(',') ?? [];
      for (const name of names)
        visit(`include/${name.trim()}.lua`, `lua/${file}:${(index + 1).toString()}`, [...open, file]);
    }
    done.add(file);
    parts.push(text);
  };
  visit(path, 'the program', []);
  return parts.join('\n');
};

const load = (name: ScriptName): Script => {
  const source = assemble(`${name}.lua`);
  return { name, source, sha: createHash('sha1').update(source).digest('hex') };
};

/** Reads every script from disk. Raises LuaIncludeError. */
export const loadScripts = (): ReadonlyMap<ScriptName, Script> =>
  new Map(SCRIPT_NAMES.map((name) => [name, load(name)]));

/** The digest of each script, for /readyz: two nodes with other digests run other releases. */
export const scriptDigests = (): Readonly<Record<string, string>> =>
  Object.fromEntries([...loadScripts()].map(([name, script]) => [name, script.sha]));
