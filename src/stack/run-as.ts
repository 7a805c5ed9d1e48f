/**
 * PostgreSQL refuses to run as root. Started by root, it runs as another user, who must then own the data and be able
 * to reach them and the program: a checkout in root's own home folder is closed to everybody else.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, cp, lstat, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Unusable } from './local-program.js';
import type { RunAs } from './processes.js';
import { runTool } from './tools.js';

const USERS = ['postgres', 'holdfast'] as const;
const CREATE_USER: readonly (readonly [string, ...string[]])[] = [
  ['useradd', '--system', '--user-group', '--no-create-home', '--shell', '/bin/false', 'holdfast'],
  ['adduser', '-S', '-D', '-H', '-s', '/bin/false', 'holdfast'],
];

/** True when this program runs as root. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

async function idOf(flag: '-u' | '-g', user: string): Promise<number | undefined> {
  const { code, output } = await runTool('id', [flag, user]);
  const id = Number(output.trim());
  return code === 0 && Number.isInteger(id) && id > 0 ? id : undefined;
}

async function lookUp(user: string): Promise<RunAs | undefined> {
  const uid = await idOf('-u', user);
  const gid = await idOf('-g', user);
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

/**
 * The user that PostgreSQL runs as: undefined for "the one who runs this program". As root it is `postgres`, else a
 * system user `holdfast`, which is made when missing.
 * @throws Unusable when no such user exists or can be made.
 */
export async function databaseUser(): Promise<RunAs | undefined> {
  if (!isRoot()) return undefined;
  for (const user of USERS) {
    const found = await lookUp(user);
    if (found) return found;
  }
  for (const [command, ...args] of CREATE_USER) {
    if ((await runTool(command, args)).code === 0) {
      const made = await lookUp('holdfast');
      if (made) return made;
    }
  }
  throw new Unusable(
    'PostgreSQL refuses to run as root and no other user could be made',
    'useradd --system --user-group postgres',
  );
}

async function canEnter(folder: string, runAs: RunAs): Promise<boolean> {
  const tried = await runTool('/bin/sh', ['-c', 'cd "$1" && test -w .', 'sh', folder], { cwd: '/', runAs });
  return tried.code === 0;
}

/** A folder for lasting things outside the home folders: unlike /tmp, it survives a restart of the machine. */
function commonFolder(): string {
  return existsSync('/var/tmp') ? '/var/tmp' : tmpdir();
}

/** Where the data of a stack go when they can't lie in its own folder: the same place each time. */
export function outsideFolder(dataDir: string): string {
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 12);
  return join(commonFolder(), `holdfast-${process.getuid?.() ?? 0}-${hash}`);
}

async function ownFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const facts = await lstat(folder);
  // Anybody can make a folder in /var/tmp: never trust one that somebody else laid there first.
  if (!facts.isDirectory() || facts.uid !== process.getuid?.() || (facts.mode & 0o022) !== 0) {
    throw new Unusable(`${folder} belongs to somebody else`, `rm -r ${folder}`);
  }
}

export interface DatabaseHome {
  readonly folder: string;
  readonly runAs: RunAs | undefined;
}

/**
 * A folder for the database that its user owns and can reach: the wanted one, or, when a folder above it is closed to
 * that user, one of the same name in `outsideFolder`. One that exists already keeps its place and its owner.
 * @throws Unusable when there is no such user, or somebody else's folder is in the way.
 */
export async function databaseHome(wanted: string): Promise<DatabaseHome> {
  if (!isRoot()) {
    await mkdir(wanted, { recursive: true, mode: 0o700 });
    return { folder: wanted, runAs: undefined };
  }
  const outside = join(outsideFolder(wanted), basename(wanted));
  for (const folder of [wanted, outside]) {
    const facts = await stat(folder).catch(() => undefined);
    if (facts && facts.uid !== 0) {
      const runAs = { uid: facts.uid, gid: facts.gid };
      if (await canEnter(folder, runAs)) return { folder, runAs };
    }
  }
  const runAs = await databaseUser();
  if (runAs === undefined) throw new Unusable('no user for PostgreSQL');
  await mkdir(wanted, { recursive: true, mode: 0o700 });
  await chown(wanted, runAs.uid, runAs.gid);
  if (await canEnter(wanted, runAs)) return { folder: wanted, runAs };
  await rm(wanted, { recursive: true });
  await ownFolder(outsideFolder(wanted));
  await mkdir(outside, { recursive: true, mode: 0o700 });
  await chown(outside, runAs.uid, runAs.gid);
  return { folder: outside, runAs };
}

/**
 * A program folder that the user can execute from: itself, or a copy outside when it lies where that user has no
 * access (node_modules in root's home folder). The copy is made whole or not at all, and once for all stacks.
 */
export async function programFolderFor(runAs: RunAs, folder: string, probe: string, label: string): Promise<string> {
  const works = async (candidate: string): Promise<boolean> =>
    (await runTool(join(candidate, probe), ['--version'], { cwd: '/', runAs })).code === 0;
  if (await works(folder)) return folder;
  const shared = join(commonFolder(), `holdfast-${process.getuid?.() ?? 0}-${label}`);
  await ownFolder(shared);
  const copy = join(shared, 'program');
  if (!existsSync(copy)) {
    const draft = await mkdtemp(join(shared, 'draft-'));
    await cp(folder, join(draft, 'program'), { recursive: true, verbatimSymlinks: true });
    await rename(join(draft, 'program'), copy).catch(() => undefined);
    await rm(draft, { recursive: true, force: true });
  }
  if (await works(copy)) return copy;
  throw new Unusable(`the user that PostgreSQL must run as can't execute ${join(folder, probe)}`);
}
