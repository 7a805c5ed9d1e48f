import type { Command } from '../core/command.js';
import { fundingKey, initialState, maxCostKey, referenceKey, reservationKey } from '../core/state.js';
import type { Funding, LedgerState } from '../core/state.js';
import { textArray } from './binary.js';
import type { BinaryParameter } from './binary.js';
import type { Session } from './session.js';
import { readAccounts } from './sql/accounts.js';
import { readFundings, readReferences } from './sql/fundings.js';
import { readMaxCosts } from './sql/max-costs.js';
import { readReservations } from './sql/reservations.js';
import { call } from './statement.js';
import type { Call, Statement } from './statement.js';

interface Id {
  readonly tenant: string;
  readonly id: string;
}

/** Which rows the commands of a group can look at. */
export interface Needs {
  readonly accounts: Set<string>;
  readonly models: Set<string>;
  /** By reservationKey: every id named. */
  readonly reservations: Map<string, Id>;
  /** By reservationKey: those whose accounts and model are needed too, since a finalize or refund need not name them. */
  readonly closing: Map<string, Id>;
  readonly fundings: Map<string, Id & { readonly kind: Funding['kind'] }>;
  readonly references: Map<string, { readonly tenant: string; readonly reference: string }>;
}

/** The rows that a group's commands were decided on. */
export interface Loaded {
  readonly state: LedgerState;
  /** By reservationKey: the positions of each reservation's events so far. */
  readonly positions: ReadonlyMap<string, readonly number[]>;
}

/** Nothing yet: to be added to. */
export const noNeeds = (): Needs => ({
  accounts: new Set(),
  models: new Set(),
  reservations: new Map(),
  closing: new Map(),
  fundings: new Map(),
  references: new Map(),
});

const needsOf = (commands: readonly Command[]): Needs => {
  const needs = noNeeds();
  for (const command of commands) note(needs, command);
  return needs;
};

const note = (needs: Needs, command: Command): void => {
  const { tenant } = command;
  switch (command.kind) {
    case 'open_account':
      needs.accounts.add(command.account);
      return;
    case 'set_max_cost':
      needs.models.add(command.model);
      return;
    case 'recharge':
    case 'adjust': {
      const { id, kind } = command;
      needs.accounts.add(command.account);
      needs.fundings.set(fundingKey(tenant, kind, id), { tenant, kind, id });
      if (command.kind === 'adjust' || command.reference === undefined) return;
      needs.references.set(referenceKey(tenant, command.reference), { tenant, reference: command.reference });
      return;
    }
    case 'reserve':
    case 'finalize':
    case 'refund':
    case 'expire':
    case 'extend':
      return noteReservation(needs, command);
  }
};

type OnReservation = Extract<Command, { kind: 'reserve' | 'finalize' | 'refund' | 'expire' | 'extend' }>;

const noteReservation = (needs: Needs, command: OnReservation): void => {
  const { tenant, id } = command;
  const key = reservationKey(tenant, id);
  needs.reservations.set(key, { tenant, id });
  if (command.kind !== 'reserve') needs.closing.set(key, { tenant, id });
  if (command.kind !== 'reserve' && command.kind !== 'finalize') return;
  for (const account of command.accounts ?? []) needs.accounts.add(account);
  if (command.model !== undefined) needs.models.add(command.model);
};

/** Collects the calls of one round trip, with what is to be done with each one's rows. */
class Reads {
  readonly #calls: Call<unknown>[] = [];
  readonly #sinks: ((rows: readonly unknown[]) => void)[] = [];

  add<R>(read: Call<R>, sink: (row: R) => void): void {
    this.#calls.push(read);
    this.#sinks.push((rows) => (rows as readonly R[]).forEach(sink));
  }

  async run(session: Session): Promise<void> {
    if (this.#calls.length === 0) return;
    const results = await session.run(...this.#calls);
    this.#sinks.forEach((sink, index) => sink(results[index] ?? []));
  }
}

/** Reads everything that the commands can look at, in one round trip of index look-ups. What is absent does not exist. */
export const load = (session: Session, commands: readonly Command[]): Promise<Loaded> =>
  loadNeeds(session, needsOf(commands));

/** The same, of needs that are known. */
export const loadNeeds = async (session: Session, needs: Needs): Promise<Loaded> => {
  const state = initialState();
  const positions = new Map<string, readonly number[]>();
  const reads = new Reads();
  const closing = idArrays(needs.closing);
  if (needs.accounts.size + needs.closing.size > 0)
    reads.add(call(readAccounts, textArray([...needs.accounts]), ...closing), (account) =>
      state.accounts.set(account.account, account),
    );
  if (needs.reservations.size > 0)
    reads.add(call(readReservations, ...idArrays(needs.reservations)), ({ reservation, positions: at }) => {
      const key = reservationKey(reservation.tenant, reservation.id);
      state.reservations.set(key, reservation);
      positions.set(key, at);
    });
  if (needs.models.size + needs.closing.size > 0)
    reads.add(call(readMaxCosts, textArray([...needs.models]), ...closing), (maxCost) =>
      state.maxCosts.set(maxCostKey(maxCost.model, maxCost.unit), maxCost),
    );
  addFundings(reads, needs, state);
  await reads.run(session);
  return { state, positions };
};

const addFundings = (reads: Reads, needs: Needs, state: LedgerState): void => {
  const keep = (statement: Statement<Funding>, arrays: readonly BinaryParameter[]): void =>
    reads.add(call(statement, ...arrays), (funding) => {
      state.fundings.set(fundingKey(funding.tenant, funding.kind, funding.id), funding);
      if (funding.reference !== undefined)
        state.references.set(referenceKey(funding.tenant, funding.reference), funding);
    });
  if (needs.fundings.size > 0) {
    const asked = [...needs.fundings.values()];
    const [tenants, ids] = idArrays(needs.fundings);
    keep(readFundings, [tenants, textArray(asked.map((f) => f.kind)), ids]);
  }
  if (needs.references.size > 0) {
    const asked = [...needs.references.values()];
    keep(readReferences, [textArray(asked.map((r) => r.tenant)), textArray(asked.map((r) => r.reference))]);
  }
};

const idArrays = (ids: ReadonlyMap<string, Id>): readonly [tenants: BinaryParameter, ids: BinaryParameter] => {
  const list = [...ids.values()];
  return [textArray(list.map((i) => i.tenant)), textArray(list.map((i) => i.id))];
};
