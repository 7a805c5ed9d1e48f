import type { ApiKey, Scope } from '../core/ports.js';
import type { Ledger } from '../service/ledger.js';
import type { ProblemCode } from './errors/table.js';

/** What a route needs of a key: one scope, any at all (the batch asks for each command's), or none. */
export type ScopeNeeded = Scope | 'any';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope that a key must have; absent: no key is needed. */
    readonly scope?: ScopeNeeded;
  }
  interface FastifyRequest {
    /** Who asks; set before the handler of every route with a scope. */
    caller: Caller | undefined;
    /** Whose data it is about, for the log; set once it is known. */
    tenant: string | undefined;
    /** The code of the refusal or failure that was answered, for log and metrics. */
    problemCode: ProblemCode | undefined;
  }
}

/** Who asks: the key, and the tenant that a header names for a key of all tenants. */
export interface Caller {
  readonly key: ApiKey;
  readonly tenantHeader: string | undefined;
}

/** What every operation gets. */
export interface Call {
  readonly ledger: Ledger;
  readonly caller: Caller;
  /** W3C trace context of the request, as it came. */
  readonly traceparent: string | undefined;
  /** Told once the tenant is known. */
  readonly onTenant: (tenant: string) => void;
}
