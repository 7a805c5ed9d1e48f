/** Redis as a local process: loopback only, password required, never evicting, appending every command to disk. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reasonOf } from './errors.js';
import { installCommand } from './install-hint.js';
import { atLeast, claimData, launchUntilReady } from './launching.js';
import {
  Unusable,
  type FindContext,
  type Launched,
  type LocalProgram,
  type LocalService,
  type Place,
} from './local-program.js';
import { fetchByMaven } from './maven.js';
import { probeRedis } from './probes.js';
import { launch } from './processes.js';
import { keptPassword } from './secrets.js';
import { findProgram, pathFolders, runTool } from './tools.js';

const OLDEST_VERSION = '6.0';
const PACKAGE_VERSION = '1.4.3';
const PACKAGE = `com.github.codemonstur:embedded-redis:${PACKAGE_VERSION}`;

/** The binaries that the jar carries, by platform and processor. */
const PACKAGED: Readonly<Record<string, string>> = {
  'linux-x64': 'redis-server-6.2.6-v5-linux-amd64',
  'linux-arm64': 'redis-server-6.2.7-linux-arm64',
  'linux-ia32': 'redis-server-6.2.7-linux-386',
  'darwin-x64': 'redis-server-6.2.6-v5-darwin-amd64',
  'darwin-arm64': 'redis-server-6.2.6-v5-darwin-arm64',
};

/**
 * Writes the configuration. A password is needed although only loopback is
 * served: whoever can send commands to a Redis can make it write files as the user that it runs as.
 */
async function configure(folder: string, port: number): Promise<{ file: string; url: string }> {
  const file = join(folder, 'redis.conf');
  const password = await keptPassword(join(folder, 'password'));
  const settings = [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir ${JSON.stringify(join(folder, 'data'))}`,
    'maxmemory-policy noeviction',
    'appendonly yes',
    'save ""',
    'daemonize no',
  ];
  await writeFile(file, `${settings.join('\n')}\n`, { mode: 0o600 });
  return { file, url: `redis://:${password}@127.0.0.1:${port}` };
}

async function launchRedis(program: string, version: string, place: Place): Promise<Launched> {
  const dataDir = join(place.folder, 'data');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await claimData({ ...place, dataDir, title: 'Redis', version }, (madeBy) => atLeast(version, madeBy));
  let url = '';
  const { process, ports } = await launchUntilReady({
    title: 'Redis',
    logFile: place.logFile,
    portCount: 1,
    preferredPorts: place.ports,
    signal: place.signal,
    start: async ([port = 0]) => {
      const configured = await configure(place.folder, port);
      url = configured.url;
      const args = [configured.file];
      return launch({ command: program, args, cwd: dataDir, logFile: place.logFile, stopSignal: 'SIGTERM' });
    },
    ready: () => probeRedis(url),
  });
  return { process, ports, address: url, dataDir };
}

async function programOf(source: LocalProgram['source'], program: string): Promise<LocalProgram> {
  const { code, output } = await runTool(program, ['--version']);
  const version = /v=(\d+\.\d+\.\d+)/.exec(output)?.[1];
  if (code !== 0 || version === undefined) throw new Unusable(`${program} does not run (${reasonOf(output)})`);
  if (!atLeast(version, OLDEST_VERSION)) {
    throw new Unusable(`${program} is version ${version}, older than ${OLDEST_VERSION}`, installCommand('redis'));
  }
  return {
    source,
    detail: `Redis ${version} from ${program}`,
    version,
    launch: (place) => launchRedis(program, version, place),
  };
}

function findInstalled(context: FindContext): Promise<LocalProgram> {
  const program = findProgram('redis-server', pathFolders(context.env));
  if (program === undefined) throw new Unusable('no redis-server is on the PATH', installCommand('redis'));
  return programOf('path', program);
}

async function findPackaged(context: FindContext): Promise<LocalProgram> {
  const name = PACKAGED[`${process.platform}-${process.arch}`];
  if (name === undefined) {
    throw new Unusable(`no package carries Redis for ${process.platform} on ${process.arch}`, installCommand('redis'));
  }
  const folder = await fetchByMaven(
    {
      label: 'Redis',
      key: `redis-${PACKAGE_VERSION}-${name}`,
      filesExpected: 221,
      goal: 'unpack',
      properties: { artifact: PACKAGE, 'mdep.unpack.includes': name },
      pom: `<project><modelVersion>4.0.0</modelVersion><groupId>holdfast</groupId><artifactId>redis</artifactId><version>1</version></project>`,
    },
    context,
  );
  const program = join(folder, name);
  await chmod(program, 0o755);
  return programOf('package', program);
}

/** Redis from the PATH, else from the jar embedded-redis. */
export const localRedis: LocalService = {
  name: 'redis',
  finders: [
    { source: 'path', find: async (context) => findInstalled(context) },
    { source: 'package', find: findPackaged },
  ],
};
