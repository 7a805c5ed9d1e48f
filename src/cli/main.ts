#!/usr/bin/env node
import { Command } from 'commander';
import { createRequire } from 'node:module';
import { accountCommand } from './account.js';
import { auditCommand } from './audit.js';
import { demoCommand } from './demo.js';
import { demoPorts } from './demo-target.js';
import { digestCommand } from './digest.js';
import { doctorCommand } from './doctor.js';
import { EXIT } from './exit.js';
import { keysCommand } from './keys.js';
import { migrateCommand } from './migrate.js';
import { modelsCommand } from './models.js';
import { rebuildCommand } from './rebuild.js';
import { replayTraceCommand } from './replay-trace.js';
import { verifyCommand } from './verify.js';
import { restoreCommand } from './restore.js';
import { rechargeCommand } from './recharge.js';
import { resumeCommand } from './resume.js';
import { serveCommand } from './serve.js';
import { stackCommand } from './stack.js';

const { version } = createRequire(import.meta.url)('#package') as { version: string };

const program = new Command('holdfast')
  .description('An event-sourced ledger that reserves the cost of an inference request before it runs')
  .version(version)
  .addHelpText(
    'after',
    '\nExit codes: 0 fine, 1 found something, 2 wrong use, 3 a service cannot be reached.\n' +
      'Services are named by HOLDFAST_POSTGRES_URL, HOLDFAST_REDIS_URL and HOLDFAST_KAFKA_BROKERS, or are those of\n' +
      '`holdfast stack up` in this folder.\n\nExample:\n  holdfast stack up && holdfast migrate && holdfast serve',
  );

const commands = [
  serveCommand(),
  migrateCommand(),
  stackCommand(),
  keysCommand(),
  accountCommand(),
  rechargeCommand(),
  modelsCommand(),
  auditCommand(),
  rebuildCommand(),
  restoreCommand(),
  resumeCommand(),
  verifyCommand(),
  digestCommand(),
  doctorCommand(),
  demoCommand(demoPorts),
  replayTraceCommand(),
];
for (const command of commands) program.addCommand(command);

/** Wrong use exits with 2, in every command; asking for help or the version with 0. */
const useExitCodes = (command: Command): void => {
  command.exitOverride((error) => {
    process.exit(error.exitCode === 0 ? EXIT.fine : EXIT.wrongUse);
  });
  command.commands.forEach(useExitCodes);
};
useExitCodes(program);

await program.parseAsync();
