/**
 * Sentences about the rules: given what has happened, when something is asked, these events are made and this is
 * answered; or it is a replay, or a rejection, and nothing is made.
 */
import { expect } from 'vitest';
import type { LedgerEvent, StoredEvent } from '../../../events/index.js';
import { genesisHash } from '../../../events/index.js';
import type { Command } from '../../../src/core/command.js';
import { execute } from '../../../src/core/decide/index.js';
import type { Decision, LogTail } from '../../../src/core/decide/index.js';
import { evolve } from '../../../src/core/evolve.js';
import type { Rejection } from '../../../src/core/rejection.js';
import { initialState } from '../../../src/core/state.js';
import type { Account, LedgerState } from '../../../src/core/state.js';
import { START_MS } from './facts.js';
import type { Fact } from './facts.js';

export const LEDGER = '00000000-0000-4000-8000-000000000000';

/** The end of an empty partition's log. */
export const emptyTail = (): LogTail => ({
  ledger: LEDGER,
  partition: 0,
  incarnation: 1,
  position: 0,
  hash: genesisHash(LEDGER, 0),
});

/** Each story's own: the position that a fact has in it is its place in the list, from 1 on. */
const happen = (facts: readonly Fact[]): { state: LedgerState; tail: LogTail } => {
  const state = initialState();
  const tail = emptyTail();
  for (const { tenant, subject, payload } of facts) {
    tail.position += 1;
    const { ledger, partition, incarnation, position } = tail;
    const event = { ledger, partition, incarnation, position, timeMs: START_MS, tenant, subject, ...payload };
    evolve(state, event);
  }
  return { state, tail };
};

const asFact = ({ event }: StoredEvent): Fact => ({
  tenant: event.tenant,
  subject: event.subject,
  payload: { name: event.name, data: event.data } as LedgerEvent,
});

/** What came of a command; each method checks a part of it and returns the same, so that they chain. */
export class Came {
  constructor(
    readonly decision: Decision,
    readonly events: readonly StoredEvent[],
    readonly state: LedgerState,
  ) {}

  /** These events were made, no more and no others, and it is not a replay. */
  makes(...facts: readonly Fact[]): this {
    expect(this.events.map(asFact)).toEqual(facts);
    expect(this.decision).toMatchObject({ outcome: 'done', replay: false, position: this.events[0]?.event.position });
    return this;
  }

  /** The first answer came again: the event at `position` is the one that counts, and no event was made. */
  replays(position: number): this {
    expect(this.decision).toMatchObject({ outcome: 'done', replay: true, position });
    expect(this.events).toEqual([]);
    return this;
  }

  /** The answer says at least this of the thing that the command was about. */
  answers(partial: object): this {
    expect(this.decision).toMatchObject({ outcome: 'done', answer: partial });
    return this;
  }

  isRejected(rejection: Rejection, knownAt?: number): this {
    expect(this.decision).toEqual({ outcome: 'rejected', rejection, ...(knownAt === undefined ? {} : { knownAt }) });
    expect(this.events).toEqual([]);
    return this;
  }

  /** The account's buckets afterwards. */
  leaves(account: string, buckets: Partial<Account>): this {
    expect(this.state.accounts.get(account)).toMatchObject(buckets);
    return this;
  }
}

interface When {
  /** Asks now, or at a time (ms since 1970). */
  when(command: Command, atMs?: number): Came;
}

/** Tells what has happened so far, oldest first. */
export const given = (...facts: readonly Fact[]): When => ({
  when: (command, atMs = START_MS) => {
    const { state, tail } = happen(facts);
    const before = structuredClone(state);
    const { decision, events } = execute(state, tail, command, atMs);
    if (decision.outcome === 'rejected') expect(state, 'a rejection changes nothing').toEqual(before);
    return new Came(decision, events, state);
  },
});

/** Asks one thing after the other, all at the same time, on what has happened; returns what came of the last. */
export const inTurn = (facts: readonly Fact[], ...commands: readonly Command[]): Came => {
  const { state, tail } = happen(facts);
  let last: Came | undefined;
  for (const command of commands) {
    const { decision, events } = execute(state, tail, command, START_MS);
    last = new Came(decision, events, state);
  }
  if (last === undefined) throw new Error('Nothing was asked.');
  return last;
};
