import type { FastifyRequest } from 'fastify';
import type { ApiKey } from '../core/ports.js';
import { TENANT_PATTERN } from '../../events/index.js';
import { hasScope } from '../service/keys.js';
import type { Keyring } from '../service/keys.js';
import type { ScopeNeeded } from './context.js';
import { ProblemError } from './errors/problem.js';

/** The header by which a key of all tenants names one. */
export const TENANT_HEADER = 'holdfast-tenant';
const BEARER = /^Bearer +([^ ]+) *$/i;

/**
 * Checks the key of a request and notes who asks.
 * Raises ProblemError `unauthenticated`, `scope_missing`, `wrong_tenant`, `invalid_request`; UnavailableError when keys can't be looked up.
 */
export const authenticate = (keyring: Keyring, request: FastifyRequest): Promise<void> | undefined => {
  const { scope } = request.routeOptions.config;
  if (scope === undefined) return undefined;
  const text = BEARER.exec(request.headers.authorization ?? '')?.[1];
  const found = text === undefined ? undefined : keyring.authenticate(text);
  if (found instanceof Promise) return found.then((key) => admit(request, key, scope));
  admit(request, found, scope);
  return undefined;
};

const admit = (request: FastifyRequest, key: ApiKey | undefined, scope: ScopeNeeded): void => {
  if (key === undefined) {
    const detail = 'Send a key that is known and not revoked: Authorization: Bearer hf_…';
    throw new ProblemError('unauthenticated', detail, {}, { 'www-authenticate': 'Bearer' });
  }
  if (scope !== 'any') assertScope(key, scope);
  request.caller = { key, tenantHeader: tenantHeaderOf(request, key) };
};

/** Raises ProblemError `scope_missing`. */
export const assertScope = (key: ApiKey, scope: Exclude<ScopeNeeded, 'any'>): void => {
  if (!hasScope(key, scope)) throw new ProblemError('scope_missing', `The key needs the scope ${scope}.`, { scope });
};

const tenantHeaderOf = (request: FastifyRequest, key: ApiKey): string | undefined => {
  const header = request.headers[TENANT_HEADER];
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !TENANT_PATTERN.test(header))
    throw new ProblemError('invalid_request', `${TENANT_HEADER} must be one tenant's name`, { field: TENANT_HEADER });
  if (key.tenant !== undefined && key.tenant !== header)
    throw new ProblemError('wrong_tenant', `The key is not ${header}'s.`, { field: TENANT_HEADER });
  return header;
};
