import { postingOf } from '../../../events/index.js';
import type { EventPayload } from '../../../events/index.js';
import type { Adjust, Recharge } from '../command.js';
import { fundingKey, referenceKey } from '../state.js';
import type { Funding, LedgerState } from '../state.js';
import { accountAfter } from './account.js';
import { findAccounts, findOverflow } from './amounts.js';
import { reject } from './decision.js';
import type { Verdict } from './decision.js';

/** A recharge counts once for its id, and once for its payment reference, whichever comes again. */
export const decideRecharge = (state: LedgerState, command: Recharge): Verdict => {
  const { tenant, id, reference } = command;
  const byId = state.fundings.get(fundingKey(tenant, 'recharge', id));
  const known = byId ?? (reference === undefined ? undefined : state.references.get(referenceKey(tenant, reference)));
  if (known !== undefined) return decideKnown(state, known, command);
  return decideFunding(state, command, (unit, postings) => ({
    name: 'Recharged',
    data: {
      recharge_id: id,
      account: command.account,
      unit,
      amount: command.amount,
      ...(reference === undefined ? {} : { reference }),
      ...(command.metadata === undefined ? {} : { metadata: command.metadata }),
      postings,
    },
  }));
};

/** An adjustment is an operator's correction: it may take a balance below zero, and counts once for its id. */
export const decideAdjust = (state: LedgerState, command: Adjust): Verdict => {
  const known = state.fundings.get(fundingKey(command.tenant, 'adjust', command.id));
  if (known !== undefined) return decideKnown(state, known, command);
  return decideFunding(state, command, (unit, postings) => ({
    name: 'Adjusted',
    data: {
      adjustment_id: command.id,
      account: command.account,
      unit,
      amount: command.amount,
      reason: command.reason,
      ...(command.metadata === undefined ? {} : { metadata: command.metadata }),
      postings,
    },
  }));
};

const decideKnown = (state: LedgerState, known: Funding, command: Recharge | Adjust): Verdict => {
  const differs = (field: string, recorded: string): Verdict =>
    reject({ code: 'id_reused', id: known.id, field, recorded });
  if (known.account !== command.account) return differs('account', known.account);
  if (known.amount !== command.amount) return differs('amount', known.amount.toString());
  const sameId = known.id === command.id;
  if (sameId && command.kind === 'recharge' && known.reference !== command.reference)
    return differs('reference', known.reference ?? 'none');
  if (command.kind === 'adjust' && known.reason !== command.reason) return differs('reason', known.reason ?? 'none');
  return {
    kind: 'replay',
    position: known.position,
    answer: { kind: 'funding', funding: known, account: accountAfter(state, known.account) },
  };
};

const decideFunding = (
  state: LedgerState,
  command: Recharge | Adjust,
  payload: (unit: string, postings: readonly ReturnType<typeof postingOf.funding>[]) => EventPayload,
): Verdict => {
  const accounts = findAccounts(state, command.tenant, [command.account]);
  if ('rejection' in accounts) return reject(accounts.rejection);
  const [account] = accounts.ok;
  if (account === undefined) throw new Error('One account was asked for.');
  const postings = [postingOf.funding(account, command.amount)];
  const overflow = findOverflow(state, postings);
  if (overflow !== undefined) return reject(overflow);
  return {
    kind: 'write',
    drafts: [{ tenant: command.tenant, subject: command.account, payload: payload(account.unit, postings) }],
    answer: () => ({
      kind: 'funding',
      funding: fundingAfter(state, command),
      account: accountAfter(state, command.account),
    }),
  };
};

const fundingAfter = (state: LedgerState, command: Recharge | Adjust): Funding => {
  const funding = state.fundings.get(fundingKey(command.tenant, command.kind, command.id));
  if (funding === undefined) throw new Error(`${command.kind} ${command.id} is missing after its event.`);
  return funding;
};
