import { Command } from 'commander';
import { tenantOf } from '../../events/index.js';
import { EXIT, exiting } from './exit.js';
import { accepted, withLedger } from './open.js';
import { print, printJson, withPoint } from './output.js';
import { amountOf } from './read.js';

interface RechargeOptions {
  readonly id?: string;
  readonly reference?: string;
  readonly json?: boolean;
}

const recharge = (name: string, amount: string, options: RechargeOptions): Promise<number> =>
  withLedger(async ({ ledger }) => {
    const done = accepted(
      await ledger.recharge({
        tenant: tenantOf(name),
        account: name,
        amount: amountOf(amount, 'AMOUNT'),
        ...(options.id === undefined ? {} : { id: options.id }),
        ...(options.reference === undefined ? {} : { reference: options.reference }),
      }),
    );
    const { account, funding, replay } = done;
    if (options.json) printJson(done);
    else
      print(
        `${replay ? 'It was recharged already' : 'Recharged'} (${funding.id}): ${account.account} has ` +
          `${withPoint(account.available, account.scale)} ${account.unit} available.`,
      );
    return EXIT.fine;
  });

/** The command `recharge`. */
export const rechargeCommand = (): Command =>
  new Command('recharge')
    .description('put a payment on an account')
    .argument('<account>')
    .argument('<amount>', "in the unit's smallest part: 5000000 is 5 USD at scale 6")
    .option('--id <id>', 'counts once; made if absent')
    .option('--reference <reference>', "the payment's own name; counts once as well")
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  holdfast recharge acme 5000000 --reference inv-2026-0042')
    .action((name: string, amount: string, options: RechargeOptions) => exiting(() => recharge(name, amount, options)));
