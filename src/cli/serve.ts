import { Command } from 'commander';
import { startServer } from '../compose.js';
import { ROLES } from '../config/settings.js';
import type { Config, Role } from '../config/settings.js';
import { createLogger } from '../logging.js';
import { EXIT, WrongUseError, exiting } from './exit.js';
import { commandConfig } from './open.js';

interface ServeOptions {
  readonly roles?: string;
  readonly port?: string;
  readonly host?: string;
}

const rolesOf = (text: string): readonly Role[] =>
  text.split(',').map((part) => {
    const role = ROLES.find((known) => known === part.trim());
    if (role === undefined) throw new WrongUseError(`--roles must be some of ${ROLES.join(', ')}, not "${part}"`);
    return role;
  });

/** Options are the last word on the environment, which is the last word on the file. */
const configured = async ({ roles, port, host }: ServeOptions): Promise<Config> => {
  const environment = { ...process.env };
  if (port !== undefined) environment['HOLDFAST_HTTP_PORT'] = port;
  if (host !== undefined) environment['HOLDFAST_HTTP_HOST'] = host;
  if (roles !== undefined) environment['HOLDFAST_SERVICE_ROLES'] = rolesOf(roles).join(',');
  return commandConfig(environment);
};

const stopRequested = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, resolve);
  });

const run = async (options: ServeOptions): Promise<number> => {
  const config = await configured(options);
  const logger = createLogger({ level: config.log.level });
  const stopping = stopRequested();
  const server = await startServer(config, logger);
  logger.info({ url: server.url, roles: config.service.roles }, 'holdfast serves');
  // To the terminal and not to the log: logs are kept and shipped, and a key must not be.
  if (server.firstKey !== undefined)
    process.stderr.write(
      `\nThe first key, for all tenants and everything. It is shown this once:\n\n  ${server.firstKey}\n\n`,
    );
  const signal = await stopping;
  logger.info({ signal }, 'stopping: what is under way is answered first');
  await server.stop();
  logger.info('stopped');
  return EXIT.fine;
};

/** The command `serve`. */
export const serveCommand = (): Command =>
  new Command('serve')
    .description('the server: HTTP, and the bodies that keep the ledger true')
    .option('--roles <roles>', `what this process does: some of ${ROLES.join(', ')} (default: all)`)
    .option('--host <address>', 'address to listen on')
    .option('--port <port>', 'port to listen on; 0 takes a free one')
    .addHelpText('after', '\nExample:\n  holdfast serve --port 7420')
    .action((options: ServeOptions) => exiting(() => run(options)));
