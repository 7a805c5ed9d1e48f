/** What is asked of the ledger, for the sentences of the tests: one maker a command, with what most tests leave alone filled in. */
import { SYSTEM_TENANT } from '../../../events/index.js';
import { NO_AMOUNTS } from '../../../src/core/command.js';
import type * as core from '../../../src/core/command.js';
import { WALLET } from './facts.js';

type Asked<C> = Partial<Omit<C, 'kind'>>;

/** One amount for all accounts. */
export const sole = (amount: bigint): core.AmountsGiven => ({ kind: 'sole', amount });
/** One amount for each unit. */
export const byUnit = (amounts: Readonly<Record<string, bigint>>): core.AmountsGiven => ({
  kind: 'by_unit',
  amounts: new Map(Object.entries(amounts)),
});
export const none = NO_AMOUNTS;

export const open = (of: Asked<core.OpenAccount> = {}): core.OpenAccount => ({
  kind: 'open_account',
  tenant: WALLET,
  account: WALLET,
  unit: 'USD',
  scale: 6,
  overdraftLimit: 0n,
  exempt: false,
  ...of,
});

export const reserve = (of: Asked<core.Reserve> = {}): core.Reserve => ({
  kind: 'reserve',
  tenant: WALLET,
  id: 'r1',
  accounts: [WALLET],
  requested: sole(60n),
  policy: 'larger',
  ttlSeconds: 600,
  level: 'durable',
  ...of,
});

export const finalize = (cost: core.AmountsGiven | bigint, of: Asked<core.Finalize> = {}): core.Finalize => ({
  kind: 'finalize',
  tenant: WALLET,
  id: 'r1',
  cost: typeof cost === 'bigint' ? sole(cost) : cost,
  ...of,
});

export const refund = (of: Asked<core.Refund> = {}): core.Refund => ({
  kind: 'refund',
  tenant: WALLET,
  id: 'r1',
  reason: 'failed',
  ...of,
});

export const expire = (id = 'r1'): core.Expire => ({ kind: 'expire', tenant: WALLET, id });

export const extend = (ttlSeconds: number, id = 'r1'): core.Extend => ({
  kind: 'extend',
  tenant: WALLET,
  id,
  ttlSeconds,
});

export const recharge = (amount: bigint, of: Asked<core.Recharge> = {}): core.Recharge => ({
  kind: 'recharge',
  tenant: WALLET,
  account: WALLET,
  id: 'paid-1',
  amount,
  ...of,
});

export const adjust = (amount: bigint, of: Asked<core.Adjust> = {}): core.Adjust => ({
  kind: 'adjust',
  tenant: WALLET,
  account: WALLET,
  id: 'adjust-1',
  amount,
  reason: 'wrong invoice',
  ...of,
});

export const setMaxCost = (amounts: Readonly<Record<string, bigint>>, model = 'gpt'): core.SetMaxCost => ({
  kind: 'set_max_cost',
  tenant: SYSTEM_TENANT,
  model,
  amounts: new Map(Object.entries(amounts)),
});
