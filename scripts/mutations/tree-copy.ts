/** A copy of the repository in a folder of its own, where files may be changed and the model test run. */
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/stack/package-root.js';
import type { Change } from './change.js';

const COPIED = ['events', 'lua', 'migrations', 'projections', 'src', 'test', 'package.json', 'tsconfig.json'];
const TEST = 'test/contract/ledger-model.test.ts';
const CONFIG = 'mutated.config.mjs';
const REPORT = 'mutated.json';

/** Where the services are that the test uses. */
export interface Services {
  readonly postgresUrl: string;
  readonly redisUrl: string;
}

/** How one test of the copy ended. */
export interface TestEnd {
  readonly title: string;
  readonly failed: boolean;
  /** The first line of what was wrong. */
  readonly why: string;
}

interface JsonReport {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

export class TreeCopy {
  private constructor(private readonly folder: string) {}

  static async make(services: Services): Promise<TreeCopy> {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-mutations-'));
    for (const name of COPIED) await cp(join(PACKAGE_ROOT, name), join(folder, name), { recursive: true });
    await symlink(join(PACKAGE_ROOT, 'node_modules'), join(folder, 'node_modules'));
    const provide = { ...services, kafkaBrokers: [] };
    const config = {
      test: { include: [TEST], provide, hookTimeout: 120_000, reporters: ['json'], outputFile: REPORT },
    };
    await writeFile(join(folder, CONFIG), `export default ${JSON.stringify(config)};\n`);
    return new TreeCopy(folder);
  }

  read(file: string): Promise<string> {
    return readFile(join(this.folder, file), 'utf8');
  }

  /** Runs the model test on the tree with one change (none: as it is), and takes the change back. Ends early on `signal`. */
  async test(change: Change | undefined, runs: number, signal: AbortSignal): Promise<readonly TestEnd[]> {
    if (change === undefined) return this.run(runs, signal);
    const path = join(this.folder, change.file);
    const before = await readFile(path, 'utf8');
    const after = change.change(before);
    if (after === before) throw new Error(`${change.name}: ${change.file} would stay as it is.`);
    await writeFile(path, after);
    try {
      return await this.run(runs, signal);
    } finally {
      await writeFile(path, before);
    }
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }

  private async run(runs: number, signal: AbortSignal): Promise<readonly TestEnd[]> {
    const report = join(this.folder, REPORT);
    await rm(report, { force: true });
    const output = await vitest(this.folder, runs, signal);
    let json: JsonReport;
    try {
      json = JSON.parse(await readFile(report, 'utf8')) as JsonReport;
    } catch (error) {
      throw new Error(`The test did not run:\n${output}`, { cause: error });
    }
    return json.testResults.flatMap(({ message, assertionResults }) => {
      if (assertionResults.length === 0) throw new Error(`The test could not be loaded: ${message}`);
      return assertionResults.map(({ title, status, failureMessages }) => ({
        title,
        failed: status !== 'passed',
        why: failureMessages[0]?.split('\n')[0] ?? '',
      }));
    });
  }
}

/** The first failure is enough: no fewer steps are looked for. Resolves with what was printed, however the test ended. */
const vitest = (folder: string, runs: number, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const program = join(folder, 'node_modules', 'vitest', 'vitest.mjs');
    const child = spawn(process.execPath, [program, 'run', '--config', CONFIG], {
      cwd: folder,
      env: { ...process.env, HOLDFAST_MODEL_RUNS: runs.toString(), HOLDFAST_MODEL_SHRINK: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    });
    const printed: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => printed.push(text));
    child.once('error', reject);
    child.once('close', () => resolve(printed.join('').slice(-4000)));
  });
