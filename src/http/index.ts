/** The ledger over HTTP. */
export { createHttpServer } from './server.js';
export { DEFAULT_LIMITS } from './parts.js';
export type { HttpLimits, HttpParts } from './parts.js';
export type { Build, PartState, Readiness, ReadinessReport } from './readiness.js';
