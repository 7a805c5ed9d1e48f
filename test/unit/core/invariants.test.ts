import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EXPIRED, chainHash, genesisHash, inRange, sumOf } from '../../../events/index.js';
import type { StoredEvent } from '../../../events/index.js';
import { execute } from '../../../src/core/decide/index.js';
import type { Decision } from '../../../src/core/decide/index.js';
import { evolve } from '../../../src/core/evolve.js';
import { initialState } from '../../../src/core/state.js';
import type { LedgerState } from '../../../src/core/state.js';
import { compileDecodeBody } from '../../../src/validation/decode-body.js';
import { START_MS } from './facts.js';
import { LEDGER, emptyTail } from './given.js';
import { ACCOUNTS, steps } from './random-commands.js';
import type { Step } from './random-commands.js';
import { open } from './orders.js';

interface Told {
  readonly step: Step;
  readonly nowMs: number;
  readonly decision: Decision;
  readonly events: readonly StoredEvent[];
  readonly before: LedgerState;
  readonly state: LedgerState;
}

/** Plays the steps on a fresh ledger and calls `look` after each; returns the whole log and the last state. */
const play = (of: readonly Step[], look: (told: Told) => void): { log: StoredEvent[]; state: LedgerState } => {
  const state = initialState();
  const tail = emptyTail();
  const log: StoredEvent[] = [];
  const opening = ACCOUNTS.map(({ payload }) => {
    if (payload.name !== 'AccountOpened') throw new Error('An account is opened first.');
    const { account, unit, scale, exempt, overdraft_limit: overdraftLimit } = payload.data;
    return { command: open({ account, unit, scale, exempt, overdraftLimit }), waitMs: 0 };
  });
  let nowMs = START_MS;
  for (const step of [...opening, ...of]) {
    nowMs += step.waitMs;
    const before = structuredClone(state);
    const { decision, events } = execute(state, tail, step.command, nowMs);
    log.push(...events);
    look({ step, nowMs, decision, events, before, state });
  }
  return { log, state };
};

const check = (look: (told: Told) => void, atEnd?: (log: readonly StoredEvent[], state: LedgerState) => void): void => {
  fc.assert(
    fc.property(steps, (of) => {
      const { log, state } = play(of, look);
      atEnd?.(log, state);
    }),
    { numRuns: 150 },
  );
};

describe('whatever is asked, in whatever order', () => {
  test('every posting and every account sums to zero, within 64 bits, at every prefix of the log', () => {
    check(({ events, state }) => {
      for (const { event } of events) for (const posting of event.data.postings) expect(sumOf(posting)).toBe(0n);
      for (const account of state.accounts.values()) {
        const { available, held, used, funded, overdraftLimit } = account;
        expect(sumOf(account)).toBe(0n);
        expect([available, held, used, funded, available + overdraftLimit].every(inRange)).toBe(true);
      }
    });
  });

  test('what an account holds is what its open reservations hold, and what it used is what was finalized', () => {
    check(
      () => undefined,
      (_log, { accounts, reservations }) => {
        for (const { account, unit, held, used } of accounts.values()) {
          const its = [...reservations.values()].filter((r) => r.accounts.some((a) => a.account === account));
          const sum = (of: 'held' | 'cost', state: string): bigint =>
            its
              .filter((r) => r.state === state)
              .flatMap((r) => r[of] ?? [])
              .filter((a) => a.unit === unit)
              .reduce((total, a) => total + a.amount, 0n);
          expect({ held, used }).toEqual({ held: sum('held', 'open'), used: sum('cost', 'finalized') });
        }
      },
    );
  });

  test('no reserve overdraws an account that is guarded', () => {
    check(({ events, state }) => {
      for (const { event } of events)
        if (event.name === 'Reserved')
          for (const { account } of event.data.postings) {
            const left = state.accounts.get(account);
            expect(left?.exempt === true || (left?.available ?? -1n) + (left?.overdraftLimit ?? 0n) >= 0n).toBe(true);
          }
    });
  });

  test('an id opens once and closes once, save that a late finalize may follow its expiry', () => {
    check(
      () => undefined,
      (log) => {
        const lives = new Map<string, string>();
        for (const { event } of log) {
          const { name, data } = event;
          if (name !== 'Reserved' && name !== 'Finalized' && name !== 'Refunded') continue;
          const expired = name === 'Refunded' && data.reason === EXPIRED;
          const word = expired ? 'Expired' : name === 'Finalized' && data.late ? 'Late' : name;
          lives.set(data.reservation_id, `${lives.get(data.reservation_id) ?? ''} ${word}`);
        }
        for (const life of lives.values())
          expect(life).toMatch(/^ (Finalized|Reserved( (Finalized|Late|Refunded|Expired( Late)?))?)$/);
      },
    );
  });

  test('a rejection or a replay makes no event and changes nothing', () => {
    check(({ decision, events, before, state }) => {
      if (decision.outcome === 'done' && !decision.replay) return;
      expect(events).toEqual([]);
      expect(state).toEqual(before);
    });
  });

  test('the same command at once again gives the same answer and makes nothing', () => {
    check(({ step, nowMs, decision, state }) => {
      const again = execute(structuredClone(state), emptyTail(), step.command, nowMs);
      expect(again.events).toEqual([]);
      if (decision.outcome === 'rejected') expect(again.decision).toEqual(decision);
      else expect(again.decision).toMatchObject({ outcome: 'done', replay: true, answer: decision.answer });
    });
  });

  test('a hold can always go back: no refund, expiry or finalize of 0 is refused for want of room', () => {
    check(({ decision, step }) => {
      if (decision.outcome !== 'rejected' || decision.rejection.code !== 'amount_overflow') return;
      expect(['refund', 'expire']).not.toContain(step.command.kind);
      if (step.command.kind === 'finalize') expect(step.command.cost).not.toEqual({ kind: 'sole', amount: 0n });
    });
  });
});

describe('the log alone', () => {
  const decode = compileDecodeBody();

  test('read back and folded from scratch gives the state that executing left', () => {
    check(
      () => undefined,
      (log, state) => {
        const folded = initialState();
        for (const { body } of log) evolve(folded, decode(body));
        expect(folded).toEqual(state);
      },
    );
  });

  test('is a chain: positions without gaps, each hash over the one before', () => {
    check(
      () => undefined,
      (log) => {
        let hash = genesisHash(LEDGER, 0);
        for (const [index, stored] of log.entries()) {
          expect(stored).toMatchObject({ prevHash: hash, event: { position: index + 1 } });
          expect(stored.hash).toBe(chainHash(hash, stored.body));
          hash = stored.hash;
        }
      },
    );
  });
});
