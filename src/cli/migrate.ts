import { Command } from 'commander';
import { migrateDatabase } from '../compose.js';
import { EXIT, exiting } from './exit.js';
import { commandConfig } from './open.js';
import { print, printJson } from './output.js';

const run = async (options: { readonly json?: boolean }): Promise<number> => {
  const { from, to, created, ledger } = await migrateDatabase(await commandConfig());
  if (options.json) printJson({ from, to, created, ledger });
  else {
    print(
      from === to
        ? `The database is at version ${to.toString()} already.`
        : `Migrated from ${from.toString()} to ${to.toString()}.`,
    );
    if (created) print(`Created the ledger ${ledger}.`);
  }
  return EXIT.fine;
};

/** The command `migrate`. */
export const migrateCommand = (): Command =>
  new Command('migrate')
    .description(
      "bring the database to this program's schema, and create the ledger if there is none; safe to run twice at once",
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  holdfast migrate')
    .action((options: { json?: boolean }) => exiting(() => run(options)));
