import type { Result } from '../../service/ledger.js';
import { refused } from '../errors/problem.js';
import type { Outcome } from '../errors/problem.js';

const HIT = { 'idempotency-hit': 'true' } as const;

/** The ledger's answer as one of HTTP; a replay says so in its header. */
export const answered = <T>(result: Result<T>, status: number, bodyOf: (done: T) => object): Outcome => {
  if (!result.ok) return refused(result.rejection);
  const body = bodyOf(result);
  return result.replay ? { status, body, replay: true, headers: HIT } : { status, body };
};
