import type { Buckets } from '../../../events/index.js';
import type { Account } from '../../core/state.js';
import type { FundingDone } from '../../service/ledger.js';
import type { AccountAnswer, FundingAnswer } from '../schemas/account.js';

/** The four buckets as they are answered. */
export const balanceAnswer = ({ available, held, used, funded }: Buckets) => ({
  available: available.toString(),
  held: held.toString(),
  used: used.toString(),
  funded: funded.toString(),
});

/** `position` and `asOfMs` (ms since 1970): the moment of the balance; without it, that of the account's last event. */
export const accountAnswer = (account: Account, moment?: { position: number; asOfMs: number }): AccountAnswer => ({
  id: account.account,
  unit: account.unit,
  scale: account.scale,
  ...balanceAnswer(account),
  overdraft_limit: account.overdraftLimit.toString(),
  exempt: account.exempt,
  metadata: account.metadata,
  position: moment?.position ?? account.position,
  as_of: moment === undefined ? undefined : new Date(moment.asOfMs).toISOString(),
});

/** A recharge or an adjustment, with the account's balance as it is now. */
export const fundingAnswer = ({ funding, account }: FundingDone): FundingAnswer => ({
  id: funding.id,
  account: funding.account,
  unit: account.unit,
  amount: funding.amount.toString(),
  reference: funding.reference,
  reason: funding.reason,
  ...balanceAnswer(account),
  position: funding.position,
});
