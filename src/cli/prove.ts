import { Command } from 'commander';
import { open, rename, rm } from 'node:fs/promises';
import { proveEvent } from '../compose/prove.js';
import { EXIT, exiting } from './exit.js';
import { withLedger } from './open.js';
import { print } from './output.js';

interface ProveOptions {
  readonly out?: string;
  readonly checkpoints?: string;
  readonly checkpointKey?: readonly string[];
}

/** What is not whole is never under the name that was asked for. */
const write = async (path: string, lines: AsyncIterable<string>): Promise<number> => {
  const draft = `${path}.part`;
  const file = await open(draft, 'w');
  let events = 0;
  try {
    for await (const line of lines) {
      await file.write(line);
      events += 1;
    }
    await file.sync();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(draft, path);
  // Header and checkpoint are no events.
  return events - 2;
};

const run = (event: string, options: ProveOptions): Promise<number> =>
  withLedger(async (holdfast) => {
    const wish = { file: options.checkpoints, keys: options.checkpointKey ?? [] };
    const lines = proveEvent(holdfast, event, wish);
    if (options.out === undefined) for await (const line of lines) process.stdout.write(line);
    else print(`${options.out}: ${(await write(options.out, lines)).toString()} events up to the checkpoint`);
    return EXIT.fine;
  });

/** The command `audit proof`. */
export const proofCommand = (): Command =>
  new Command('proof')
    .description('the chain from an event to the next signed checkpoint, for an auditor who has the public key alone')
    .argument('<event>', 'its id: <ledger>.<partition>.<position>')
    .option('--out <file>', 'write it there (default: standard output)')
    .option('--checkpoints <file>', 'where the checkpoints are (default: the configured file, else the topic)')
    .option('--checkpoint-key <key...>', 'verifier key that they are signed with (default: that of the configured key)')
    .addHelpText(
      'after',
      '\nIt holds every event of the partition in between, of other tenants too.\n\nExample:\n' +
        '  holdfast audit proof 0190b6a4-7c1e-7d5a-9a63-5f2f0f6f3b11.12.4711 --out proof.txt',
    )
    .action((event: string, options: ProveOptions) => exiting(() => run(event, options)));
