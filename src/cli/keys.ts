import { Command } from 'commander';
import { SCOPES } from '../core/ports.js';
import type { ApiKey, Scope } from '../core/ports.js';
import { mintKey } from '../service/keys.js';
import { checkpointKeyCommand } from './checkpoint-key.js';
import { EXIT, WrongUseError, exiting } from './exit.js';
import { withLedger } from './open.js';
import { print, printJson, table, timeText } from './output.js';

interface CreateOptions {
  readonly tenant?: string;
  readonly scope: readonly string[];
  readonly label: string;
  readonly json?: boolean;
}

const scopeOf = (text: string): Scope => {
  const scope = SCOPES.find((known) => known === text);
  if (scope === undefined) throw new WrongUseError(`--scope must be one of ${SCOPES.join(', ')}, not "${text}"`);
  return scope;
};

const create = (options: CreateOptions): Promise<number> =>
  withLedger(async ({ keys }) => {
    const minted = await mintKey(keys, {
      scopes: options.scope.map(scopeOf),
      label: options.label,
      ...(options.tenant === undefined ? {} : { tenant: options.tenant }),
    });
    if (options.json) printJson({ ...described(minted.key), key: minted.text });
    else print(`${minted.text}\nThis key is shown once; only its SHA-256 is stored.`);
    return EXIT.fine;
  });

const described = ({ id, tenant, scopes, label, createdAtMs, revokedAtMs }: ApiKey) => ({
  id,
  tenant: tenant ?? null,
  scopes,
  label,
  created_at: timeText(createdAtMs),
  revoked_at: revokedAtMs === undefined ? null : timeText(revokedAtMs),
});

const list = (options: { readonly json?: boolean }): Promise<number> =>
  withLedger(async ({ keys }) => {
    const known = (await keys.list()).map(described);
    if (options.json) printJson(known);
    else
      print(
        table(
          ['id', 'tenant', 'scopes', 'label', 'created', 'revoked'],
          known.map((k) => [k.id, k.tenant ?? 'all', k.scopes.join(','), k.label, k.created_at, k.revoked_at ?? '']),
        ),
      );
    return EXIT.fine;
  });

const revoke = (id: string): Promise<number> =>
  withLedger(async ({ keys }) => {
    const key = await keys.revoke(id);
    print(key === undefined ? `No key has the id ${id}.` : `Revoked ${id}; servers refuse it within a few seconds.`);
    return key === undefined ? EXIT.found : EXIT.fine;
  });

/** The command `keys`: create, list, revoke, checkpoint. */
export const keysCommand = (): Command =>
  new Command('keys')
    .description('bearer keys of the HTTP interface, and the key that checkpoints are signed with')
    .addHelpText('after', '\nExample:\n  holdfast keys create --tenant acme --scope reserve')
    .addCommand(
      new Command('create')
        .description('make a key; its text is shown once')
        .option('--tenant <tenant>', 'only for this tenant (default: all; requests then name one)')
        .requiredOption('--scope <scope...>', `what it may do: ${SCOPES.join(', ')}`)
        .option('--label <text>', 'what it is for', '')
        .option('--json', 'print JSON')
        .addHelpText('after', '\nExample:\n  holdfast keys create --tenant acme --scope reserve read --label gateway')
        .action((options: CreateOptions) => exiting(() => create(options))),
    )
    .addCommand(
      new Command('list')
        .description('all keys, without their secrets')
        .option('--json', 'print JSON')
        .addHelpText('after', '\nExample:\n  holdfast keys list')
        .action((options: { json?: boolean }) => exiting(() => list(options))),
    )
    .addCommand(
      new Command('revoke')
        .description('refuse a key from now on')
        .argument('<id>', 'the part between hf_ and the second _')
        .addHelpText('after', '\nExample:\n  holdfast keys revoke 0f3a9b2c4d5e6f70')
        .action((id: string) => exiting(() => revoke(id))),
    )
    .addCommand(checkpointKeyCommand());
