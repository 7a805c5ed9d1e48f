/** Starting one service on free ports until it answers, and keeping it from opening data it can't read. */
import { mkdir, open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { reasonOf } from './errors.js';
import { Unusable } from './local-program.js';
import { freePort, saysPortTaken } from './ports.js';
import { waitUntil } from './probes.js';
import type { ServiceProcess } from './processes.js';

const PORT_ATTEMPTS = 3;
const READY_TIMEOUT_MS = 60_000;

export interface LaunchPlan {
  readonly title: string;
  readonly logFile: string;
  readonly portCount: number;
  readonly preferredPorts?: readonly number[] | undefined;
  readonly signal?: AbortSignal | undefined;
  start(ports: readonly number[]): Promise<ServiceProcess>;
  /** Resolves when it answers; `log` is what it has written since it was started. */
  ready(ports: readonly number[], log: () => Promise<string>): Promise<void>;
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    (facts) => facts.size,
    () => 0,
  );
}

async function readFrom(file: string, offset: number): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const size = (await handle.stat()).size;
    const buffer = Buffer.alloc(Math.max(0, size - offset));
    await handle.read(buffer, 0, buffer.length, offset);
    return buffer.toString('utf8');
  } finally {
    await handle.close();
  }
}

function lastLine(log: string): string {
  return log.trim().split('\n').at(-1)?.trim() ?? '';
}

async function choosePorts(plan: LaunchPlan, attempt: number): Promise<number[]> {
  const ports: number[] = [];
  for (let index = 0; index < plan.portCount; index++) {
    const preferred = attempt === 0 ? plan.preferredPorts?.[index] : undefined;
    const port = await freePort(preferred);
    ports.push(ports.includes(port) ? await freePort() : port);
  }
  return ports;
}

/**
 * Runs the plan on free ports until the service answers; tries other ports when somebody took one in between.
 * @throws Unusable with the last line of its log; nothing is left running then.
 */
export async function launchUntilReady(plan: LaunchPlan): Promise<{ process: ServiceProcess; ports: number[] }> {
  await mkdir(dirname(plan.logFile), { recursive: true });
  for (let attempt = 0; ; attempt++) {
    const ports = await choosePorts(plan, attempt);
    const offset = await sizeOf(plan.logFile);
    const log = (): Promise<string> => readFrom(plan.logFile, offset);
    const process = await plan.start(ports);
    try {
      await waitUntil(() => plan.ready(ports, log), {
        timeoutMs: READY_TIMEOUT_MS,
        signal: plan.signal,
        givenUp: () => process.ending(),
      });
      return { process, ports };
    } catch (error) {
      await process.stop();
      if (plan.signal?.aborted) throw error;
      const written = await log();
      if (saysPortTaken(written) && attempt + 1 < PORT_ATTEMPTS) continue;
      const said = lastLine(written);
      const because = `${reasonOf(error)}${said === '' ? '' : `, its last words were "${said}"`}`;
      throw new Unusable(`${plan.title} did not come up (${because}; its log is ${plan.logFile})`, undefined, {
        cause: error,
      });
    }
  }
}

export interface DataClaim {
  /** Where the claim is noted. */
  readonly folder: string;
  readonly dataDir: string;
  readonly title: string;
  readonly version: string;
}

/**
 * Notes which version makes the data, and refuses data of another that can't be read. A folder without data is free.
 * @param fits whether this version can open data made by the one given to it.
 * @throws Unusable naming both versions.
 */
export async function claimData(claim: DataClaim, fits: (madeBy: string) => boolean): Promise<void> {
  const file = join(claim.folder, 'made-by');
  const madeBy = (await readFile(file, 'utf8').catch(() => '')).trim();
  const holdsData = (await readdir(claim.dataDir).catch(() => [])).length > 0;
  if (holdsData && madeBy !== '' && !fits(madeBy)) {
    const sentence = `the data in ${claim.dataDir} were made by ${claim.title} ${madeBy}, which ${claim.version} can't open`;
    throw new Unusable(sentence, 'npx holdfast stack down --delete-data');
  }
  await mkdir(claim.folder, { recursive: true });
  if (madeBy !== claim.version) await writeFile(file, `${claim.version}\n`);
}

/** The numbers of a version, for comparing: "6.2.11" is [6, 2, 11]. */
function numbersOf(version: string): number[] {
  return version.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0);
}

/** True when version `a` is not older than `b`, by its first two numbers. */
export function atLeast(a: string, b: string): boolean {
  const [majorA = 0, minorA = 0] = numbersOf(a);
  const [majorB = 0, minorB = 0] = numbersOf(b);
  return majorA > majorB || (majorA === majorB && minorA >= minorB);
}

/** The first number of a version. */
export function majorOf(version: string): number {
  return numbersOf(version)[0] ?? 0;
}
