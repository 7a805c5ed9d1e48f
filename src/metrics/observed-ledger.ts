import { tenantOf } from '../../events/index.js';
import type { CommandKind } from '../core/command.js';
import type { Reservation } from '../core/state.js';
import type { Ledger, Result } from '../service/ledger.js';
import type { LedgerMetrics } from './ledger.js';

/** A ledger that counts what it answers, and is otherwise the one given. */
export const observeLedger = (ledger: Ledger, metrics: LedgerMetrics): Ledger => {
  const count = async <T>(kind: CommandKind, tenant: string, answer: Promise<Result<T>>): Promise<Result<T>> => {
    try {
      const result = await answer;
      metrics.commandAnswered(kind, result.ok ? (result.replay ? 'replay' : 'done') : 'rejected', tenant);
      return result;
    } catch (error) {
      metrics.commandAnswered(kind, 'unavailable', tenant);
      throw error;
    }
  };
  return {
    openAccount: (input) => count('open_account', tenantOf(input.account), ledger.openAccount(input)),
    recharge: (input) => count('recharge', input.tenant, ledger.recharge(input)),
    adjust: (input) => count('adjust', input.tenant, ledger.adjust(input)),
    extend: (input) => count('extend', input.tenant, ledger.extend(input)),
    setMaxCost: (input) => count('set_max_cost', 'operator', ledger.setMaxCost(input)),
    reserve: async (input) => {
      const result = await count('reserve', input.tenant, ledger.reserve(input));
      if (!result.ok) metrics.reserveRefused(result.rejection.code);
      return result;
    },
    finalize: async (input) => {
      const result = await count('finalize', input.tenant, ledger.finalize(input));
      if (result.ok && !result.replay) observeAge(metrics, result.reservation);
      return result;
    },
    refund: async (input) => {
      const result = await count('refund', input.tenant, ledger.refund(input));
      if (result.ok && !result.replay) metrics.refunded(input.reason);
      return result;
    },
    account: (tenant, account, at) => ledger.account(tenant, account, at),
    trail: (tenant, account, page) => ledger.trail(tenant, account, page),
    reservation: (tenant, id) => ledger.reservation(tenant, id),
    maxCosts: (model) => ledger.maxCosts(model),
    models: () => ledger.models(),
  };
};

/**
 * A reservation does not say when it was made, but when it expires and for how long it was asked. Once extended the two no longer give
 * the moment; then it comes out too late, and one that would lie in the future is left out.
 */
const observeAge = (metrics: LedgerMetrics, { opened, expiresAtMs, ttlSeconds }: Reservation): void => {
  if (!opened) return;
  const ageMs = Date.now() - (expiresAtMs - ttlSeconds * 1000);
  if (ageMs >= 0) metrics.reserveToFinalize(ageMs / 1000);
};
