import { Registry, collectDefaultMetrics } from 'prom-client';
import { checkpointMetrics } from './checkpoints.js';
import type { CheckpointMetrics } from './checkpoints.js';
import { httpMetrics } from './http.js';
import type { HttpMetrics } from './http.js';
import { ledgerMetrics } from './ledger.js';
import type { LedgerMetrics } from './ledger.js';

export type { CheckpointMetrics } from './checkpoints.js';
export { HeldRatios } from './held-ratio.js';
export type { HttpMetrics } from './http.js';
export type { LedgerMetrics } from './ledger.js';
export { observeLedger } from './observed-ledger.js';

/** How many tenants get a series of their own unless told otherwise. */
const TENANTS_MAX = 20;

export interface Metrics {
  readonly http: HttpMetrics;
  readonly ledger: LedgerMetrics;
  readonly checkpoints: CheckpointMetrics;
  readonly contentType: string;
  /** Everything in the text form that Prometheus reads. */
  text(): Promise<string>;
}

/** One registry for a process. `processToo` adds those of Node itself (memory, event loop, …), under the same prefix. */
export const createMetrics = (
  options: { readonly tenantsMax?: number; readonly processToo?: boolean } = {},
): Metrics => {
  const registry = new Registry();
  if (options.processToo ?? false) collectDefaultMetrics({ register: registry, prefix: 'holdfast_' });
  return {
    http: httpMetrics(registry),
    ledger: ledgerMetrics(registry, options.tenantsMax ?? TENANTS_MAX),
    checkpoints: checkpointMetrics(registry),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
};
