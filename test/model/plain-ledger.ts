/**
 * The ledger as a shopkeeper would keep it: four numbers an account, moved by the commands that were accepted. It knows
 * no posting, no event and no fold, so it can tell when all of those are wrong in the same way.
 */
import { AMOUNT_MAX, AMOUNT_MIN } from '../../events/index.js';
import type { AmountsGiven, Command, Finalize, Reserve } from '../../src/core/command.js';
import type { Decision } from '../../src/core/decide/index.js';
import { maxCostKey } from '../../src/core/state.js';
import type { MaxCost } from '../../src/core/state.js';

export interface PlainAccount {
  readonly unit: string;
  readonly overdraft: bigint;
  readonly exempt: boolean;
  available: bigint;
  held: bigint;
  used: bigint;
  funded: bigint;
}

interface PlainHold {
  readonly accounts: readonly string[];
  readonly amounts: ReadonlyMap<string, bigint>;
  open: boolean;
}

/** What a caller gave for a unit. */
const givenFor = (given: AmountsGiven, unit: string): bigint | undefined => {
  if (given.kind === 'none') return undefined;
  return given.kind === 'sole' ? given.amount : given.amounts.get(unit);
};

export class PlainLedger {
  readonly accounts = new Map<string, PlainAccount>();
  private readonly holds = new Map<string, PlainHold>();
  /** The largest amount that any bucket has held, without its sign. */
  largest = 0n;

  /** Takes a command and the ledger's word on it. `maxCosts`: as they stood before. Raises an Error when the word is not right. */
  take(command: Command, decision: Decision, maxCosts: ReadonlyMap<string, MaxCost>): void {
    if (decision.outcome === 'rejected') return this.checkRefusal(decision.rejection);
    if (decision.replay) return;
    switch (command.kind) {
      case 'open_account': {
        const { unit, overdraftLimit, exempt } = command;
        const empty = { available: 0n, held: 0n, used: 0n, funded: 0n };
        this.accounts.set(command.account, { unit, overdraft: overdraftLimit, exempt, ...empty });
        return;
      }
      case 'recharge':
      case 'adjust':
        return this.move(command.account, { available: command.amount, funded: -command.amount });
      case 'reserve':
        return this.hold(command, maxCosts);
      case 'finalize':
        return this.charge(command);
      case 'refund':
      case 'expire':
        return this.giveBack(command.id);
      case 'extend':
      case 'set_max_cost':
        return;
    }
  }

  /** What is held under an id, for each unit; undefined when nothing is. */
  heldUnder(id: string): ReadonlyMap<string, bigint> | undefined {
    const hold = this.holds.get(id);
    return hold?.open === true ? hold.amounts : undefined;
  }

  private hold(command: Reserve, maxCosts: ReadonlyMap<string, MaxCost>): void {
    const amounts = new Map<string, bigint>();
    for (const name of command.accounts) {
      const { unit, available, overdraft, exempt } = this.of(name);
      const amount = command.settled?.get(unit) ?? amountToHold(command, unit, maxCosts);
      if (!exempt && available + overdraft < amount)
        throw new Error(`Overspend: ${name} did not have what was granted.`);
      amounts.set(unit, amount);
      this.move(name, { available: -amount, held: amount });
    }
    if (this.holds.has(command.id)) throw new Error(`The id ${command.id} opened twice.`);
    this.holds.set(command.id, { accounts: command.accounts, amounts, open: true });
  }

  private charge(command: Finalize): void {
    const hold = this.holds.get(command.id);
    for (const name of hold?.accounts ?? command.accounts ?? []) {
      const { unit } = this.of(name);
      const closed = hold?.open === true ? (hold.amounts.get(unit) ?? 0n) : 0n;
      const cost = givenFor(command.cost, unit) ?? 0n;
      this.move(name, { available: closed - cost, held: -closed, used: cost });
    }
    if (hold !== undefined) hold.open = false;
    else this.holds.set(command.id, { accounts: [], amounts: new Map(), open: false });
  }

  private giveBack(id: string): void {
    const hold = this.holds.get(id);
    if (hold?.open !== true) throw new Error(`A refund of ${id} was accepted, and nothing is held.`);
    for (const name of hold.accounts) {
      const amount = hold.amounts.get(this.of(name).unit) ?? 0n;
      this.move(name, { available: amount, held: -amount });
    }
    hold.open = false;
  }

  private checkRefusal(rejection: Extract<Decision, { outcome: 'rejected' }>['rejection']): void {
    if (rejection.code !== 'insufficient_quota') return;
    const { available, overdraft, exempt } = this.of(rejection.account);
    if (exempt || available + overdraft >= rejection.required)
      throw new Error(`A false refusal: ${rejection.account} has what was asked for.`);
  }

  private of(name: string): PlainAccount {
    const account = this.accounts.get(name);
    if (account === undefined) throw new Error(`A command on ${name} was accepted, and there is no such account.`);
    return account;
  }

  private move(name: string, by: Partial<Record<'available' | 'held' | 'used' | 'funded', bigint>>): void {
    const account = this.of(name);
    for (const bucket of ['available', 'held', 'used', 'funded'] as const) {
      const after = account[bucket] + (by[bucket] ?? 0n);
      if (after > AMOUNT_MAX || after < AMOUNT_MIN) throw new Error(`${bucket} of ${name} left 64 bits.`);
      account[bucket] = after;
      const size = after < 0n ? -after : after;
      if (size > this.largest) this.largest = size;
    }
  }
}

/** By policy the caller's amount, the model's max_cost, or the larger. */
const amountToHold = (command: Reserve, unit: string, maxCosts: ReadonlyMap<string, MaxCost>): bigint => {
  const asked = givenFor(command.requested, unit);
  const known = command.model === undefined ? undefined : maxCosts.get(maxCostKey(command.model, unit))?.amount;
  const choices = { caller: [asked, known], model: [known], larger: [asked, known] }[command.policy];
  const given = choices.filter((amount) => amount !== undefined);
  const [first] = given;
  if (first === undefined) throw new Error(`A reserve of ${command.id} was granted, and nobody said how much.`);
  return command.policy === 'larger' ? given.reduce((most, amount) => (amount > most ? amount : most), first) : first;
};
