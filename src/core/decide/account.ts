import type { OpenAccount } from '../command.js';
import type { Account, LedgerState } from '../state.js';
import { reject } from './decision.js';
import type { Verdict } from './decision.js';

/** The first member in which an account that exists differs from the one asked for. */
const difference = (known: Account, asked: OpenAccount): string | undefined => {
  if (known.unit !== asked.unit) return 'unit';
  if (known.scale !== asked.scale) return 'scale';
  if (known.overdraftLimit !== asked.overdraftLimit) return 'overdraft_limit';
  if (known.exempt !== asked.exempt) return 'exempt';
  return undefined;
};

/** Opens an account; the same again is a replay. Metadata is kept from the first time and not compared. */
export const decideOpenAccount = (state: LedgerState, command: OpenAccount): Verdict => {
  const known = state.accounts.get(command.account);
  if (known !== undefined) {
    const field = difference(known, command);
    if (field !== undefined) return reject({ code: 'account_differs', account: command.account, field });
    return { kind: 'replay', position: known.position, answer: { kind: 'account', account: known } };
  }
  const data = {
    account: command.account,
    unit: command.unit,
    scale: command.scale,
    overdraft_limit: command.overdraftLimit,
    exempt: command.exempt,
    ...(command.metadata === undefined ? {} : { metadata: command.metadata }),
    postings: [],
  };
  return {
    kind: 'write',
    drafts: [{ tenant: command.tenant, subject: command.account, payload: { name: 'AccountOpened', data } }],
    answer: () => ({ kind: 'account', account: accountAfter(state, command.account) }),
  };
};

/** The account as the events just written left it. */
export const accountAfter = (state: LedgerState, name: string): Account => {
  const account = state.accounts.get(name);
  if (account === undefined) throw new Error(`Account ${name} is missing after an event that touches it.`);
  return account;
};
