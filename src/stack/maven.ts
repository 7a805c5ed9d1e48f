/** What Maven Central carries: fetched once per user into a cache that all checkouts share. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { reasonOf, throwIfInterrupted } from './errors.js';
import { installCommand } from './install-hint.js';
import { Unusable, type FindContext } from './local-program.js';
import { withLock } from './lock.js';
import { findProgram, pathFolders, runTool } from './tools.js';

const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';
const DRAFT = 'draft-';
const FETCH_WAIT_MS = 900_000;

/** The cache folder of this user: `$XDG_CACHE_HOME/holdfast`, or `~/.cache/holdfast`. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const base = env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(env['HOME'] ?? homedir(), '.cache') : base, 'holdfast');
}

export interface MavenFetch {
  /** What is fetched, in words, for the progress bar. */
  readonly label: string;
  /** The folder's name in the cache: must change whenever what is fetched does. */
  readonly key: string;
  /** About how many files Maven fetches when it has none yet. */
  readonly filesExpected: number;
  readonly goal: 'copy-dependencies' | 'unpack';
  /** `-D` properties; the output folder is added. */
  readonly properties: Readonly<Record<string, string>>;
  readonly pom: string;
}

async function runMaven(maven: string, fetch: MavenFetch, draft: string, context: FindContext): Promise<void> {
  await writeFile(join(draft, 'pom.xml'), fetch.pom);
  const task = context.progress.task(`Fetching ${fetch.label} by Maven`, fetch.filesExpected);
  let done = 0;
  const properties = { ...fetch.properties, outputDirectory: join(draft, 'out'), 'style.color': 'never' };
  const args = ['-B', ...Object.entries(properties).map(([key, value]) => `-D${key}=${value}`)];
  const { code, output } = await runTool(maven, [...args, `${PLUGIN}:${fetch.goal}`], {
    cwd: draft,
    env: context.env,
    signal: context.signal,
    onLine: (line) => {
      const file = /Downloaded from \S+ \S*\/(\S+)/.exec(line)?.[1];
      if (file !== undefined) task.advance(++done, file);
    },
  });
  task.end();
  throwIfInterrupted(context.signal);
  if (code !== 0) {
    const error = output.split('\n').find((line) => line.includes('[ERROR]')) ?? output;
    throw new Unusable(`Maven could not fetch ${fetch.label} (${reasonOf(error.replace(/\[ERROR\]\s*/, ''))})`);
  }
}

/**
 * The folder that holds what was asked for, fetched when the cache lacks it. One at a time per user: Maven's own
 * repository is not made for two that fetch the same plugin at once. What is fetched appears under its name only when
 * it is whole, so that one that dies halfway leaves nothing half done.
 * @throws Unusable when Maven is missing or fails.
 */
export async function fetchByMaven(fetch: MavenFetch, context: FindContext): Promise<string> {
  const cache = cacheFolder(context.env);
  const folder = join(cache, fetch.key);
  if (existsSync(folder)) return folder;
  const maven = findProgram('mvn', pathFolders(context.env));
  if (maven === undefined)
    throw new Unusable(`Maven, which would fetch ${fetch.label}, is missing`, installCommand('maven'));
  await mkdir(cache, { recursive: true }).catch((error: unknown) => {
    throw new Unusable(`the cache folder ${cache} can't be made (${reasonOf(error)})`);
  });
  const { progress, signal } = context;
  const lock = { busyWith: 'fetching by Maven', waitMs: FETCH_WAIT_MS, progress, signal };
  return withLock(cache, lock, async () => {
    if (existsSync(folder)) return folder;
    await clearDrafts(cache);
    const draft = await mkdtemp(join(cache, DRAFT));
    try {
      await runMaven(maven, fetch, draft, context);
      await rename(join(draft, 'out'), folder);
      return folder;
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  });
}

/** Removes what one that was killed left behind: nobody else is at work while the lock is held. */
async function clearDrafts(cache: string): Promise<void> {
  const left = (await readdir(cache)).filter((name) => name.startsWith(DRAFT));
  await Promise.all(left.map((name) => rm(join(cache, name), { recursive: true, force: true })));
}
