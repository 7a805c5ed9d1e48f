import { tenantOf } from '../../events/index.js';
import type { Level } from '../../events/index.js';
import type { Command } from '../core/command.js';
import { partitionOf } from '../core/partition.js';
import { UnavailableError } from '../core/ports.js';
import type {
  Appended,
  Holds,
  Journal,
  JournalReader,
  LedgerIdentity,
  ReplicationConfirmer,
  TrailReader,
} from '../core/ports.js';
import type { MaxCost } from '../core/state.js';
import * as make from './commands.js';
import type { CommandDefaults } from './commands.js';
import { checkAccountName, checkId, checkTenant } from './input.js';
import type {
  AccountAt,
  AdjustInput,
  AsOf,
  ExtendInput,
  FinalizeInput,
  FundingDone,
  Ledger,
  OpenAccountInput,
  RechargeInput,
  RefundInput,
  ReservationDone,
  ReservationHistory,
  ReserveInput,
  Result,
  SetMaxCostInput,
  TrailPage,
  TrailSlice,
} from './ledger.js';
import { reserve } from './reserve.js';

/** Tells when Redis shows what was committed. */
export interface BalanceVisibility {
  /** Waits until the partition's balances in Redis include `position`. At once false when the partition is not ready, or in time not seen. */
  visible(partition: number, position: number): Promise<boolean>;
  /** From now on no reserve that comes here is refused on a balance from before `position`. */
  require(partition: number, position: number): void;
}

export interface LedgerParts {
  readonly identity: LedgerIdentity;
  readonly holds: Holds;
  readonly journal: Journal;
  readonly reader: JournalReader & TrailReader;
  readonly confirmer: ReplicationConfirmer;
  readonly balances: BalanceVisibility;
  readonly defaults: CommandDefaults;
}

/** The ledger of ledger.ts over the three services: reserves hold first, everything else goes log first. */
export class LedgerService implements Ledger {
  constructor(private readonly parts: LedgerParts) {}

  async openAccount(given: OpenAccountInput): ReturnType<Ledger['openAccount']> {
    const { decision } = await this.append(make.openAccountOf(given), 'durable');
    if (decision.outcome === 'rejected') return { ok: false, rejection: decision.rejection };
    if (decision.answer.kind !== 'account') throw unexpected('account');
    return { ok: true, replay: decision.replay, account: decision.answer.account };
  }

  async account(tenant: string, account: string, at?: AsOf): Promise<Result<AccountAt>> {
    checkTenant(tenant);
    checkAccountName(account, 'id');
    const found = tenantOf(account) === tenant ? await this.parts.reader.accountAt(account, at) : undefined;
    return found === undefined ? accountNotFound(account) : { ok: true, replay: false, ...found };
  }

  async trail(tenant: string, account: string, page: TrailPage): Promise<Result<TrailSlice>> {
    checkTenant(tenant);
    checkAccountName(account, 'id');
    const known = tenantOf(account) === tenant ? await this.parts.reader.account(account) : undefined;
    if (known === undefined) return accountNotFound(account);
    return { ok: true, replay: false, ...(await this.parts.reader.trail(account, page)) };
  }

  async recharge(given: RechargeInput): Promise<Result<FundingDone>> {
    return this.fund(make.rechargeOf(given));
  }

  async adjust(given: AdjustInput): Promise<Result<FundingDone>> {
    return this.fund(make.adjustOf(given));
  }

  async reserve(given: ReserveInput): Promise<Result<ReservationDone>> {
    const command = make.reserveOf(given, this.parts.defaults);
    assertOffered(command.level);
    const partition = this.partition(command.tenant);
    const outcome = await reserve(this.parts, partition, command);
    if (outcome.kind === 'rejected') return { ok: false, rejection: outcome.rejection };
    const { reservation, position, replay, hash } = outcome;
    await this.confirm(make.higherLevel(command.level, reservation.level), partition, position, hash);
    return { ok: true, replay, reservation, position };
  }

  async finalize(given: FinalizeInput): Promise<Result<ReservationDone>> {
    const level = make.levelOf(given.level, this.parts.defaults);
    assertOffered(level);
    return this.close(make.finalizeOf(given), level);
  }

  async refund(given: RefundInput): Promise<Result<ReservationDone>> {
    return this.close(make.refundOf(given), this.parts.defaults.level);
  }

  async extend(given: ExtendInput): Promise<Result<ReservationDone>> {
    return this.close(make.extendOf(given, this.parts.defaults), this.parts.defaults.level);
  }

  async reservation(tenant: string, id: string): Promise<Result<ReservationHistory>> {
    const found = await this.parts.reader.reservationHistory(checkTenant(tenant), checkId(id));
    return found === undefined
      ? { ok: false, rejection: { code: 'reservation_not_found', id } }
      : { ok: true, replay: false, ...found };
  }

  async setMaxCost(given: SetMaxCostInput): ReturnType<Ledger['setMaxCost']> {
    const { decision } = await this.append(make.setMaxCostOf(given), this.parts.defaults.level);
    if (decision.outcome === 'rejected') return { ok: false, rejection: decision.rejection };
    if (decision.answer.kind !== 'max_cost') throw unexpected('max_cost');
    return { ok: true, replay: decision.replay, maxCosts: decision.answer.maxCosts };
  }

  async maxCosts(model: string): Promise<readonly MaxCost[]> {
    return this.parts.reader.maxCosts([checkId(model, 'model')]);
  }

  models(): Promise<readonly MaxCost[]> {
    return this.parts.reader.maxCosts();
  }

  private partition(tenant: string): number {
    return partitionOf(tenant, this.parts.identity.partitions);
  }

  /** Log first: append, then wait for Kafka if the level asks for it. */
  private async append(command: Command, level: Level): Promise<Appended> {
    const appended = await this.parts.journal.append(command);
    const { decision, partition, events } = appended;
    if (decision.outcome === 'done') await this.confirm(level, partition, decision.position, events[0]?.hash);
    return appended;
  }

  private async close(command: Command, level: Level): Promise<Result<ReservationDone>> {
    const appended = await this.parts.journal.append(command);
    const { decision, partition, events } = appended;
    if (decision.outcome === 'rejected') return { ok: false, rejection: decision.rejection };
    if (decision.answer.kind !== 'reservation') throw unexpected('reservation');
    const { reservation } = decision.answer;
    // What was reserved for Kafka's promise is closed under it too.
    const promised = make.higherLevel(level, reservation.level);
    await this.confirm(promised, partition, decision.position, events[0]?.hash);
    return { ok: true, replay: decision.replay, reservation, position: decision.position };
  }

  /** A recharge answers when its balance is visible in Redis, or at commit while the partition is not ready or slow. */
  private async fund(command: Command): Promise<Result<FundingDone>> {
    const { decision, partition } = await this.append(command, this.parts.defaults.level);
    if (decision.outcome === 'rejected') return { ok: false, rejection: decision.rejection };
    if (decision.answer.kind !== 'funding') throw unexpected('funding');
    // Answered without being visible, it must still count for the next reserve: that one then goes to the journal.
    if (!(await this.parts.balances.visible(partition, decision.position)))
      this.parts.balances.require(partition, decision.position);
    const { funding, account } = decision.answer;
    return { ok: true, replay: decision.replay, funding, account };
  }

  private async confirm(level: Level, partition: number, position: number, hash: string | undefined): Promise<void> {
    if (level !== 'replicated' || position === 0) return;
    const known = hash ?? (await this.parts.reader.read(partition, position - 1, 1))[0]?.hash;
    if (known === undefined)
      throw new UnavailableError('replication_pending', `The event at position ${position.toString()} can't be read.`);
    await this.parts.confirmer.confirmed(partition, position, known);
  }
}

const assertOffered = (level: Level): void => {
  if (level === 'fast')
    throw new UnavailableError('level_not_available', 'The level fast is not offered yet; durable and replicated are.');
};

const accountNotFound = (
  account: string,
): { readonly ok: false; readonly rejection: { code: 'account_not_found'; account: string } } => ({
  ok: false,
  rejection: { code: 'account_not_found', account },
});

const unexpected = (wanted: string): Error =>
  new Error(`The journal answered a command with something else than ${wanted}.`);
