import { Command } from 'commander';
import { writeFile } from 'node:fs/promises';
import { makeNoteKey, verifierKeyText } from '../../events/index.js';
import { EXIT, WrongUseError, exiting } from './exit.js';
import { print } from './output.js';

interface KeyOptions {
  readonly out: string;
  readonly name: string;
}

/** Never over a file that is there: it may be the key that years of checkpoints are signed with. */
const put = async (path: string, text: string, mode: number): Promise<void> => {
  try {
    await writeFile(path, text, { mode, flag: 'wx' });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new WrongUseError(`${path} is there already; it is not written over`);
    throw error;
  }
};

const run = async ({ out, name }: KeyOptions): Promise<number> => {
  const { secret, verifier } = makeNoteKey(name);
  const text = verifierKeyText(verifier);
  await put(out, secret, 0o600);
  await put(`${out}.pub`, `${text}\n`, 0o644);
  print(text);
  return EXIT.fine;
};

/** The command `keys checkpoint`. */
export const checkpointKeyCommand = (): Command =>
  new Command('checkpoint')
    .description('make a key pair that signs checkpoints of the log; prints the verifier key, which anybody may have')
    .requiredOption('--out <file>', 'where the private key goes; the verifier key goes beside it, to <file>.pub')
    .option(
      '--name <name>',
      'the key’s name; best an address of yours, like ledger.example.com/checkpoints',
      'holdfast',
    )
    .addHelpText(
      'after',
      '\nExample:\n  holdfast keys checkpoint --out checkpoint.key --name ledger.example.com/checkpoints',
    )
    .action((options: KeyOptions) => exiting(() => run(options)));
