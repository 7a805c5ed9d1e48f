import { tenantOf } from '../../events/index.js';
import { TENANT_HEADER } from './authenticate.js';
import type { Call } from './context.js';
import { ProblemError } from './errors/problem.js';

/** True when this caller may see the account; if not, it is answered like one that does not exist. */
export const mayTouch = (call: Call, account: string): boolean => {
  const { key, tenantHeader } = call.caller;
  const tenant = tenantOf(account);
  return tenant === (key.tenant ?? tenantHeader ?? tenant);
};

/** The tenant of an account that the caller may touch (`mayTouch`). */
export const tenantOfAccount = (call: Call, account: string): string => {
  const tenant = tenantOf(account);
  call.onTenant(tenant);
  return tenant;
};

/**
 * The tenant of a command on a reservation: the key's; for a key of all tenants the one that the body names, else the header's, else
 * that of the first account.
 * Raises ProblemError `tenant_required`, `wrong_tenant`, `invalid_request`.
 */
export const tenantOfCommand = (call: Call, accounts: readonly string[] | undefined, inBody?: string): string => {
  const { key, tenantHeader } = call.caller;
  const named = key.tenant ?? tenantHeader;
  if (inBody !== undefined && named !== undefined && inBody !== named) {
    if (key.tenant !== undefined)
      throw new ProblemError('wrong_tenant', `The key is not ${inBody}'s.`, { field: 'tenant' });
    throw new ProblemError('invalid_request', `tenant is not the one of ${TENANT_HEADER}`, { field: 'tenant' });
  }
  const [first] = accounts ?? [];
  const tenant = named ?? inBody ?? (first === undefined ? undefined : tenantOf(first));
  if (tenant === undefined)
    throw new ProblemError('tenant_required', `The key is for all tenants: name one by the header ${TENANT_HEADER}.`, {
      field: TENANT_HEADER,
    });
  call.onTenant(tenant);
  return tenant;
};
