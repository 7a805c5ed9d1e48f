/** `holdfast stack`: the services that Holdfast stands on, brought up, taken down and looked at. */
import { resolve } from 'node:path';
import { Argument, Command, Option } from 'commander';
import {
  ADDRESS_VARIABLES,
  SERVICE_NAMES,
  StackError,
  stackStatus,
  startServices,
  stopStack,
  streamProgress,
  type RunningService,
  type ServiceName,
  type ServiceStatus,
} from '../stack/index.js';
import { processOutput, type CommandOutput } from './command-output.js';
import { interruptible } from './interruptible.js';

interface CommonOptions {
  readonly dataDir?: string;
  readonly json?: boolean;
}

function folderOf(options: CommonOptions): { dataDir?: string } {
  return options.dataDir === undefined ? {} : { dataDir: resolve(options.dataDir) };
}

/** Runs a command's body; a failure meant for the reader becomes one line and an exit code. */
async function reporting(output: CommandOutput, body: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await body();
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    output.messages.write(`${error.message}\n`);
    process.exitCode = error.exitCode;
  }
}

function exportLine(service: RunningService): string {
  const { name, address } = service.record;
  return `export ${ADDRESS_VARIABLES[name]}='${address.replaceAll("'", `'\\''`)}'\n`;
}

function describeStarted(service: RunningService): string {
  const { record, joined } = service;
  const pid = record.process ? `, process ${record.process.pid}` : '';
  const lines = [`${record.name}: ${joined ? 'was up already' : 'up'} (${record.detail}${pid})`];
  if (record.dataDir !== undefined) lines.push(`  data: ${record.dataDir}`);
  if (record.logFile !== undefined) lines.push(`  log:  ${record.logFile}`);
  if (joined && record.heldBy) lines.push(`  ends with process ${record.heldBy.pid}, which started it`);
  return lines.join('\n');
}

async function up(names: readonly ServiceName[], options: CommonOptions, output: CommandOutput): Promise<number> {
  const progress = streamProgress(output.messages);
  const started = await interruptible((signal) =>
    startServices(names, { ...folderOf(options), progress, signal, detached: true }),
  );
  const services = names.map((name) => started.services.get(name)).filter((service) => service !== undefined);
  if (options.json === true) {
    const records = services.map(({ record, joined }) => ({ ...record, joined }));
    output.out(`${JSON.stringify({ services: records }, undefined, 2)}\n`);
    return 0;
  }
  for (const service of services) progress.say(describeStarted(service));
  progress.say('\nStop with: npx holdfast stack down. In this shell, for other programs:\n');
  for (const service of services) output.out(exportLine(service));
  return 0;
}

async function down(options: CommonOptions & { deleteData?: boolean }, output: CommandOutput): Promise<number> {
  const progress = streamProgress(output.messages);
  const deleteData = options.deleteData ?? false;
  const stopped = await stopStack({ ...folderOf(options), progress, deleteData });
  if (options.json === true) output.out(`${JSON.stringify({ stopped, dataDeleted: deleteData })}\n`);
  else {
    progress.say(stopped.length === 0 ? 'Nothing was running.' : `Stopped: ${stopped.join(', ')}.`);
    if (deleteData) progress.say('Its data are deleted.');
  }
  return 0;
}

function describeStatus(status: ServiceStatus): string {
  const lines = [`${status.name}: ${status.up ? 'up' : 'down'} (${status.detail})`];
  if (status.pid !== undefined) lines.push(`  process: ${status.pid}`);
  if (status.dataDir !== undefined) lines.push(`  data: ${status.dataDir}`);
  if (status.logFile !== undefined) lines.push(`  log:  ${status.logFile}`);
  return `${lines.join('\n')}\n`;
}

async function status(options: CommonOptions, output: CommandOutput): Promise<number> {
  const services = await stackStatus(folderOf(options));
  if (options.json === true) output.out(`${JSON.stringify({ services }, undefined, 2)}\n`);
  else for (const service of services) output.out(describeStatus(service));
  return services.every((service) => service.up) ? 0 : 1;
}

function subcommand(name: string, about: string, example: string): Command {
  return new Command(name)
    .description(about)
    .addOption(new Option('--data-dir <folder>', 'where data, logs and state lie (default: .holdfast/stack)'))
    .option('--json', 'print JSON, for machines')
    .addHelpText('after', `\nExample:\n  ${example}`);
}

/** The command `stack` with `up`, `down` and `status`. Exit codes: 0 fine, 1 something is down, 3 it can't be had. */
export function stackCommand(output: CommandOutput = processOutput): Command {
  const upCommand = subcommand(
    'up',
    'start what is not running, and print the addresses',
    'eval "$(holdfast stack up)"',
  )
    .addArgument(new Argument('[services...]', 'only these').choices([...SERVICE_NAMES]))
    .action((names: ServiceName[], options: CommonOptions) =>
      reporting(output, () => up(names.length === 0 ? SERVICE_NAMES : names, options, output)),
    );
  const downCommand = subcommand('down', 'stop what `up` started', 'holdfast stack down --delete-data')
    .option('--delete-data', 'also delete databases and logs')
    .action((options: CommonOptions & { deleteData?: boolean }) => reporting(output, () => down(options, output)));
  const statusCommand = subcommand('status', 'say what runs, and where', 'holdfast stack status --json').action(
    (options: CommonOptions) => reporting(output, () => status(options, output)),
  );
  return new Command('stack')
    .description('PostgreSQL, Redis and Kafka for development: from the environment, Docker, the PATH or packages')
    .addHelpText(
      'after',
      '\nHOLDFAST_STACK_SOURCES=path,package does without Docker.\n' +
        '\nExample:\n  eval "$(holdfast stack up)" && holdfast serve',
    )
    .addCommand(upCommand)
    .addCommand(downCommand)
    .addCommand(statusCommand);
}
