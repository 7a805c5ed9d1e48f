import type { AsOf } from '../../service/ledger.js';
import { accountAnswer, fundingAnswer } from '../answers/account.js';
import { given } from '../answers/amounts.js';
import type { Call } from '../context.js';
import { ProblemError, refused } from '../errors/problem.js';
import type { Outcome } from '../errors/problem.js';
import type { AdjustmentBody, OpenAccountBody, RechargeBody } from '../schemas/account.js';
import { mayTouch, tenantOfAccount } from '../tenant.js';
import { answered } from './done.js';

/** What an account of another tenant is answered like: one that does not exist. */
const accountNotFound = (account: string): Outcome => refused({ code: 'account_not_found', account });

/** Opens an account: 201, or 200 when it was open already. */
export const openAccount = async (call: Call, body: OpenAccountBody): Promise<Outcome> => {
  if (!mayTouch(call, body.id))
    throw new ProblemError('wrong_tenant', `The key may not open accounts of that tenant.`, { field: 'id' });
  tenantOfAccount(call, body.id);
  const { id, unit, scale, overdraft_limit: overdraft, exempt, metadata } = body;
  const result = await call.ledger.openAccount({
    account: id,
    unit,
    ...given({
      scale,
      overdraftLimit: overdraft === undefined ? undefined : BigInt(overdraft),
      exempt,
      metadata,
      traceparent: call.traceparent,
    }),
  });
  const status = result.ok && result.replay ? 200 : 201;
  return answered(result, status, ({ account }) => accountAnswer(account));
};

/** An account's balance, now or at a past moment. */
export const getAccount = async (call: Call, account: string, at?: AsOf): Promise<Outcome> => {
  if (!mayTouch(call, account)) return accountNotFound(account);
  const result = await call.ledger.account(tenantOfAccount(call, account), account, at);
  return answered(result, 200, ({ account: found, position, asOfMs }) => accountAnswer(found, { position, asOfMs }));
};

/** Pays in. `id` comes from the body or the Idempotency-Key. */
export const recharge = async (
  call: Call,
  account: string,
  id: string | undefined,
  { amount, reference, metadata }: RechargeBody,
): Promise<Outcome> => {
  if (!mayTouch(call, account)) return accountNotFound(account);
  const result = await call.ledger.recharge({
    tenant: tenantOfAccount(call, account),
    account,
    amount: BigInt(amount),
    ...given({ id, reference, metadata, traceparent: call.traceparent }),
  });
  return answered(result, 201, fundingAnswer);
};

/** Corrects a balance. `id` comes from the body or the Idempotency-Key. */
export const adjust = async (
  call: Call,
  account: string,
  id: string | undefined,
  { amount, reason, metadata }: AdjustmentBody,
): Promise<Outcome> => {
  if (!mayTouch(call, account)) return accountNotFound(account);
  const result = await call.ledger.adjust({
    tenant: tenantOfAccount(call, account),
    account,
    amount: BigInt(amount),
    reason,
    ...given({ id, metadata, traceparent: call.traceparent }),
  });
  return answered(result, 201, fundingAnswer);
};
