import { seal } from '../../../events/index.js';
import type { LedgerEvent, StoredEvent } from '../../../events/index.js';
import type { Command } from '../command.js';
import { evolve } from '../evolve.js';
import type { LedgerState } from '../state.js';
import { decideOpenAccount } from './account.js';
import { decideExpire, decideExtend, decideRefund } from './close.js';
import type { Decision, Verdict } from './decision.js';
import { decideFinalize } from './finalize.js';
import { decideAdjust, decideRecharge } from './fund.js';
import { decideSetMaxCost } from './model.js';
import { decideReserve } from './reserve.js';

export type { Answer, Decision, Draft, Verdict } from './decision.js';

export interface DecideSettings {
  /** A cost up to this many times max_cost raises it at once; above, the raise waits for an operator. Whole, at least 1. */
  readonly raiseFactor: bigint;
}

export const DEFAULT_DECIDE_SETTINGS: DecideSettings = { raiseFactor: 10n };

/** Decides one command on a state, without changing it: the only place where the rules are written. Pure. */
export const decide = (state: LedgerState, command: Command, nowMs: number, settings: DecideSettings): Verdict => {
  switch (command.kind) {
    case 'open_account':
      return decideOpenAccount(state, command);
    case 'reserve':
      return decideReserve(state, command, nowMs);
    case 'finalize':
      return decideFinalize(state, command, nowMs, settings.raiseFactor);
    case 'refund':
      return decideRefund(state, command);
    case 'expire':
      return decideExpire(state, command, nowMs);
    case 'extend':
      return decideExtend(state, command, nowMs);
    case 'recharge':
      return decideRecharge(state, command);
    case 'adjust':
      return decideAdjust(state, command);
    case 'set_max_cost':
      return decideSetMaxCost(state, command);
  }
};

/** Where the next event of a partition goes. Advanced in place by `execute`. */
export interface LogTail {
  readonly ledger: string;
  readonly partition: number;
  readonly incarnation: number;
  position: number;
  hash: string;
}

/**
 * Decides a command and, if it makes events, puts them behind `tail` and folds them into `state`.
 * Commands of a group are executed in sequence, each on the state that the one before left. `nowMs` must not go back within a partition.
 */
export const execute = (
  state: LedgerState,
  tail: LogTail,
  command: Command,
  nowMs: number,
  settings: DecideSettings = DEFAULT_DECIDE_SETTINGS,
): { readonly decision: Decision; readonly events: readonly StoredEvent[] } => {
  const verdict = decide(state, command, nowMs, settings);
  if (verdict.kind === 'reject') {
    const { rejection, knownAt } = verdict;
    return { decision: { outcome: 'rejected', rejection, ...(knownAt === undefined ? {} : { knownAt }) }, events: [] };
  }
  if (verdict.kind === 'replay') {
    const { position, answer } = verdict;
    return { decision: { outcome: 'done', replay: true, position, answer }, events: [] };
  }
  const position = tail.position + 1;
  const events = verdict.drafts.map(({ payload, tenant, subject }) => {
    const event: LedgerEvent = {
      ledger: tail.ledger,
      partition: tail.partition,
      position: tail.position + 1,
      incarnation: tail.incarnation,
      timeMs: nowMs,
      tenant,
      subject,
      ...(command.traceparent === undefined ? {} : { traceparent: command.traceparent }),
      ...payload,
    };
    const stored = seal(event, tail.hash);
    tail.position = event.position;
    tail.hash = stored.hash;
    evolve(state, event);
    return stored;
  });
  return { decision: { outcome: 'done', replay: false, position, answer: verdict.answer() }, events };
};
