import { describe, expect, test } from 'vitest';
import { execute } from '../../../src/core/decide/index.js';
import type { Decision } from '../../../src/core/decide/index.js';
import { UnavailableError } from '../../../src/core/ports.js';
import type { Appended, HoldOutcome, Holds, Journal } from '../../../src/core/ports.js';
import type { Reserve } from '../../../src/core/command.js';
import { initialState } from '../../../src/core/state.js';
import type { Reservation } from '../../../src/core/state.js';
import { reserve } from '../../../src/service/reserve.js';
import { emptyTail } from '../core/given.js';
import { open, recharge, reserve as ask } from '../core/orders.js';

const PARTITION = 3;
const taken = new Map([['USD', 60n]]);

/** A grant as the journal answers it. */
const granted = (replay = false): Appended => {
  const state = initialState();
  const tail = emptyTail();
  execute(state, tail, open(), 0);
  execute(state, tail, recharge(100n), 0);
  const { decision, events } = execute(state, tail, ask(), 0);
  if (decision.outcome !== 'done') throw new Error('It has the money.');
  return { decision: { ...decision, replay }, partition: PARTITION, events: replay ? [] : events };
};

const refusal = { code: 'insufficient_quota', account: 'acme', unit: 'USD', available: 0n, required: 60n } as const;
const rejected = (knownAt?: number): Appended => {
  const decision: Decision = { outcome: 'rejected', rejection: refusal, ...(knownAt === undefined ? {} : { knownAt }) };
  return { decision, partition: PARTITION, events: [] };
};

const KNOWN: Reservation = (() => {
  const { decision } = granted();
  if (decision.outcome !== 'done' || decision.answer.kind !== 'reservation') throw new Error('It is a reservation.');
  return decision.answer.reservation;
})();

/** Plays one reserve against fakes that answer so; returns what came of it and what was asked of whom, in order. */
const play = async (hold: HoldOutcome, journal: Appended | Error) => {
  const said: string[] = [];
  let appendedWith: Reserve | undefined;
  const holds: Holds = {
    hold: (partition, command) => {
      said.push(`hold ${partition} ${command.id}`);
      return Promise.resolve(hold);
    },
    release: (partition, tenant, id, attempt) => {
      said.push(`release ${partition} ${tenant} ${id} ${attempt}`);
      return Promise.resolve();
    },
    settle: (partition, tenant, id, position) => {
      said.push(`settle ${partition} ${tenant} ${id} ${position}`);
      return Promise.resolve();
    },
  };
  const fake: Journal = {
    append: (command) => {
      said.push('append');
      appendedWith = command.kind === 'reserve' ? command : undefined;
      return journal instanceof Error ? Promise.reject(journal) : Promise.resolve(journal);
    },
  };
  const outcome = await reserve({ holds, journal: fake }, PARTITION, ask()).catch((error: unknown) => error);
  return { outcome, said: said.slice(1), settled: appendedWith?.settled };
};

const HELD: HoldOutcome = { kind: 'held', amounts: taken, attempt: 'a7' };
const UNKNOWN: HoldOutcome = { kind: 'unknown', attempt: 'a7' };
const ASK: HoldOutcome = { kind: 'ask_journal', why: 'not ready' };
const unavailable = (code: UnavailableError['code']) => new UnavailableError(code, 'away');
const RELEASE = `release ${PARTITION} acme r1 a7`;

describe('a reserve that Redis answers alone', () => {
  test('known: the first answer again, at its position, and the journal is not asked', async () => {
    const { outcome, said } = await play({ kind: 'known', reservation: KNOWN }, new Error('not asked'));
    expect(outcome).toEqual({ kind: 'granted', reservation: KNOWN, position: KNOWN.position, replay: true });
    expect(said).toEqual([]);
  });

  test('refused: the refusal, and the journal is not asked', async () => {
    const { outcome, said } = await play({ ...refusal, kind: 'refused' }, new Error('not asked'));
    expect(outcome).toEqual({ kind: 'rejected', rejection: refusal });
    expect(said).toEqual([]);
  });
});

describe('a reserve that goes to the journal', () => {
  test('after a hold takes exactly what Redis took', async () => {
    expect((await play(HELD, granted())).settled).toBe(taken);
  });

  test.each([
    ['can’t say', ASK],
    ['may have taken something unknown', UNKNOWN],
  ])('when Redis %s settles the amount there', async (_what, hold) => {
    expect((await play(hold, granted())).settled).toBeUndefined();
  });

  test('is granted there, with its hash for whoever waits for Kafka', async () => {
    const first = granted();
    const { outcome } = await play(HELD, first);
    expect(outcome).toMatchObject({ kind: 'granted', replay: false, position: 3, hash: first.events[0]?.hash });
  });

  /** What becomes of the speculation: [the hold, what the journal said, what follows the append]. */
  test.each<[string, HoldOutcome, string, Appended, readonly string[]]>([
    ['held', HELD, 'granted: its event ends it when it is applied', granted(), []],
    ['held', HELD, 'known already: it is settled there', granted(true), [`settle ${PARTITION} acme r1 3`]],
    ['held', HELD, 'refused: it is given back', rejected(), [RELEASE]],
    ['held', HELD, 'refused, the id being known at 9: it is settled there', rejected(9), [`settle ${PARTITION} acme r1 9`]],
    ['unknown', UNKNOWN, 'granted: its event ends it, if there is one', granted(), []],
    ['unknown', UNKNOWN, 'known already: settled, if there is one', granted(true), [`settle ${PARTITION} acme r1 3`]],
    ['unknown', UNKNOWN, 'refused: given back, if there is one', rejected(), [RELEASE]],
    ['unknown', UNKNOWN, 'refused, the id being known at 9: settled', rejected(9), [`settle ${PARTITION} acme r1 9`]],
    ['not taken', ASK, 'granted: there is none', granted(), []],
    ['not taken', ASK, 'known already: there is none', granted(true), []],
    ['not taken', ASK, 'refused: there is none', rejected(), []],
    ['not taken', ASK, 'refused, the id being known: there is none', rejected(9), []],
  ])('leaves no speculation behind: %s (%j), %s', async (_hold, hold, _what, answer, follows) => {
    const { said, outcome } = await play(hold, answer);
    expect(said).toEqual(['append', ...follows]);
    expect(outcome).toMatchObject({ kind: answer.decision.outcome === 'done' ? 'granted' : 'rejected' });
  }); // prettier-ignore
});

describe('a reserve whose append fails', () => {
  test.each<[string, HoldOutcome, Error, readonly string[]]>([
    ['surely did not happen: given back', HELD, unavailable('journal_unavailable'), [RELEASE]],
    ['was not taken on: given back', HELD, unavailable('journal_overloaded'), [RELEASE]],
    ['surely did not happen, hold unknown: given back', UNKNOWN, unavailable('journal_unavailable'), [RELEASE]],
    ['may have happened: kept, for its event or the sweeper', HELD, unavailable('outcome_unknown'), []],
    ['may have happened, hold unknown: kept', UNKNOWN, unavailable('outcome_unknown'), []],
    ['surely did not happen, nothing held: nothing', ASK, unavailable('journal_unavailable'), []],
  ])('%s', async (_what, hold, error, follows) => {
    const { outcome, said } = await play(hold, error);
    expect(outcome).toBe(error);
    expect(said).toEqual(['append', ...follows]);
  });
});
