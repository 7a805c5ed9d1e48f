/** A program of its own that uses `src/stack`, for tests that kill the owner of a stack. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { PACKAGE_ROOT } from '../../src/stack/package-root.js';

export interface StackProgram {
  readonly child: ChildProcess;
  /** Resolves once it has written the text, on either stream. @throws when it ends without. */
  said(text: string): Promise<void>;
  /** Its exit code; null when a signal ended it. */
  readonly ended: Promise<number | null>;
}

async function compileTo(folder: string): Promise<void> {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  const folders = ['stack', 'cli'];
  const names = await Promise.all(folders.map((from) => readdir(join(PACKAGE_ROOT, 'src', from))));
  for (const file of folders.flatMap((from, at) => (names[at] ?? []).map((name) => join(from, name)))) {
    const source = await readFile(join(PACKAGE_ROOT, 'src', file), 'utf8');
    const target = join(folder, file.replace(/\.ts$/, '.js'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, ts.transpileModule(source, { compilerOptions }).outputText);
  }
}

/** Runs the module text in a process of its own; `SOURCES` in it stands for the folder of the compiled sources. */
export async function runStackProgram(text: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  // Inside the package, so that its dependencies are found.
  const parent = join(PACKAGE_ROOT, '.holdfast');
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, 'program-'));
  await compileTo(folder);
  const file = join(folder, 'program.mjs');
  await writeFile(file, text.replaceAll('SOURCES', '.'));
  const child = spawn(process.execPath, [file, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let written = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      written += chunk.toString();
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      void rm(folder, { recursive: true, force: true }).then(() => resolve(code));
    });
  });
  const said = (wanted: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (written.includes(wanted)) resolve();
      };
      listeners.add(look);
      look();
      void ended.then(() => reject(new Error(`it ended, having said: ${written}`)));
    });
  return { child, said, ended } satisfies StackProgram;
}
