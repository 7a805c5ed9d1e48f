import { Command } from 'commander';
import { examine } from '../compose/doctor.js';
import type { DoctorReport } from '../compose/doctor.js';
import { EXIT, exiting } from './exit.js';
import { commandConfig } from './open.js';
import { print, printJson, table } from './output.js';

interface DoctorOptions {
  readonly json?: boolean;
}

/** Text in lines of at most so many characters, broken between words. */
const folded = (text: string, width: number): string => {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
};

/** The findings as a table, with what mends each. */
export const doctorText = ({ findings }: DoctorReport): string => {
  if (findings.length === 0)
    return 'Nothing is wrong: Postgres, Kafka and Redis are there, and stand at the same events.';
  const rows = findings.map(({ code, severity, what, mend }) => [
    severity === 'note' ? `${code}\n(a note)` : code,
    folded(what, 60),
    folded(mend, 50),
  ]);
  return table(['code', 'what is so', 'what mends it'], rows);
};

/** Fine, found something, or without the journal. */
export const doctorExit = ({ journal, findings }: DoctorReport): number => {
  if (!journal) return EXIT.unreachable;
  return findings.some(({ severity }) => severity === 'wrong') ? EXIT.found : EXIT.fine;
};

const run = async (options: DoctorOptions): Promise<number> => {
  const report = await examine(await commandConfig());
  if (options.json) printJson(report);
  else print(doctorText(report));
  return doctorExit(report);
};

/** The command `doctor`. */
export const doctorCommand = (): Command =>
  new Command('doctor')
    .description('compares all heads and settings of Postgres, Kafka and Redis; says what is wrong and what mends it')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nChanges nothing. Exit 0: nothing is wrong, 1: something is, 3: Postgres can’t be reached.\n' +
        'docs/ERRORS.md tells of each code.\n\nExample:\n  holdfast doctor\nSee also: holdfast verify, which reads all of the log',
    )
    .action((options: DoctorOptions) => exiting(() => run(options)));
