/** Kafka as a local process: one KRaft node, broker and controller at once, loopback only. */
import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { reasonOf, throwIfInterrupted } from './errors.js';
import { installCommand } from './install-hint.js';
import { fetchKafkaJars, KAFKA_VERSION } from './kafka-jars.js';
import { atLeast, claimData, launchUntilReady } from './launching.js';
import {
  Unusable,
  type FindContext,
  type Launched,
  type LocalProgram,
  type LocalService,
  type Place,
} from './local-program.js';
import { probeKafka } from './probes.js';
import { launch } from './processes.js';
import { findProgram, pathFolders, runTool } from './tools.js';

const OLDEST_JAVA = 17;
const HEAP_FLAGS = ['-Xms64m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

interface KafkaProgram {
  readonly java: string;
  /** A folder of jars. */
  readonly libs: string;
  readonly version: string;
}

/** The Java to run the broker with. @throws Unusable when there is none, or it is older than 17. */
async function findJava(context: FindContext): Promise<string> {
  const home = context.env['JAVA_HOME'];
  const folders = [...(home === undefined || home === '' ? [] : [join(home, 'bin')]), ...pathFolders(context.env)];
  const java = findProgram('java', folders);
  if (java === undefined) throw new Unusable('Java is missing', installCommand('java', 'maven'));
  const { code, output } = await runTool(java, ['-version']);
  const version = /version "(?:1\.)?(\d+)/.exec(output)?.[1];
  if (code !== 0 || version === undefined) throw new Unusable(`${java} does not run (${reasonOf(output)})`);
  if (Number(version) < OLDEST_JAVA) {
    throw new Unusable(`${java} is Java ${version}, older than ${OLDEST_JAVA}`, installCommand('java', 'maven'));
  }
  return java;
}

function properties(dataDir: string, port: number, controllerPort: number): string {
  const settings: Readonly<Record<string, string>> = {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': dataDir.replaceAll('\\', '\\\\'),
    'auto.create.topics.enable': 'false',
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '1',
    'group.initial.rebalance.delay.ms': '0',
    'log.cleaner.dedupe.buffer.size': '8388608',
  };
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

async function classPath(libs: string): Promise<string> {
  const jars = (await readdir(libs)).filter((file) => file.endsWith('.jar')).sort();
  return jars.map((jar) => join(libs, jar)).join(':');
}

/** Makes the data folder, whole or not at all: a format that is cut short must not look finished later. */
async function format(program: KafkaProgram, jars: string, dataDir: string, place: Place): Promise<void> {
  if (existsSync(dataDir)) return;
  const draft = join(place.folder, 'draft');
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  const config = join(place.folder, 'format.properties');
  // Formatting takes no port; the ones that it will listen on are chosen when it starts.
  await writeFile(config, properties(draft, 1, 2));
  const clusterId = randomBytes(16).toString('base64url');
  const tool = ['kafka.tools.StorageTool', 'format', `--cluster-id=${clusterId}`, '-c', config];
  const { code, output } = await runTool(program.java, [...HEAP_FLAGS, '-cp', jars, ...tool], {
    cwd: place.folder,
    signal: place.signal,
  });
  throwIfInterrupted(place.signal);
  if (code !== 0) throw new Unusable(`Kafka's storage could not be formatted (${output.split('\n').at(-1) ?? ''})`);
  await rm(config);
  await rename(draft, dataDir);
}

async function launchKafka(program: KafkaProgram, place: Place): Promise<Launched> {
  const dataDir = join(place.folder, 'data');
  const { version } = program;
  await mkdir(place.folder, { recursive: true, mode: 0o700 });
  await claimData({ ...place, dataDir, title: 'Kafka', version }, (madeBy) => atLeast(version, madeBy));
  const config = join(place.folder, 'server.properties');
  const jars = await classPath(program.libs);
  await format(program, jars, dataDir, place);
  const { process, ports } = await launchUntilReady({
    title: 'Kafka',
    logFile: place.logFile,
    portCount: 2,
    preferredPorts: place.ports,
    signal: place.signal,
    start: async ([port = 0, controllerPort = 0]) => {
      await writeFile(config, properties(dataDir, port, controllerPort));
      const args = [...HEAP_FLAGS, '-cp', jars, 'kafka.Kafka', config];
      return launch({ command: program.java, args, cwd: place.folder, logFile: place.logFile, stopSignal: 'SIGTERM' });
    },
    ready: async ([port = 0], log) => {
      if (!(await log()).includes('Kafka Server started')) throw new Error('its log does not say that it started');
      await probeKafka(`127.0.0.1:${port}`);
    },
  });
  return { process, ports, address: `127.0.0.1:${ports[0] ?? 0}`, dataDir };
}

function programOf(source: LocalProgram['source'], program: KafkaProgram): LocalProgram {
  return {
    source,
    detail: `Kafka ${program.version} from ${program.libs}`,
    version: program.version,
    launch: (place) => launchKafka(program, place),
  };
}

/** The jars of an installed Kafka, beside its start script. */
async function findInstalled(context: FindContext): Promise<LocalProgram> {
  const home = context.env['KAFKA_HOME'];
  const folders = [...(home === undefined || home === '' ? [] : [join(home, 'bin')]), ...pathFolders(context.env)];
  const script = findProgram('kafka-server-start.sh', folders) ?? findProgram('kafka-server-start', folders);
  if (script === undefined) throw new Unusable('no kafka-server-start.sh is on the PATH or in KAFKA_HOME');
  const libs = join(dirname(dirname(realpathSync(script))), 'libs');
  const files = await readdir(libs).catch(() => []);
  const version = files.map((file) => /^kafka_[\d.]+-(\d+\.\d+\.\d+)\.jar$/.exec(file)?.[1]).find(Boolean);
  if (version === undefined) throw new Unusable(`there are no Kafka jars in ${libs}`);
  if (!atLeast(version, '3.9')) throw new Unusable(`Kafka ${version} in ${libs} is older than 3.9`);
  return programOf('path', { java: await findJava(context), libs, version });
}

async function findPackaged(context: FindContext): Promise<LocalProgram> {
  const java = await findJava(context);
  return programOf('package', { java, libs: await fetchKafkaJars(context), version: KAFKA_VERSION });
}

/** Kafka from an installation, else its jars from Maven Central. */
export const localKafka: LocalService = {
  name: 'kafka',
  finders: [
    { source: 'path', find: findInstalled },
    { source: 'package', find: findPackaged },
  ],
};
