import { tenantOf } from '../../events/index.js';
import type { StoredEvent } from '../../events/index.js';
import type { Command } from '../core/command.js';
import { DEFAULT_DECIDE_SETTINGS } from '../core/decide/index.js';
import type { DecideSettings } from '../core/decide/index.js';
import { partitionOf } from '../core/partition.js';
import { UnavailableError } from '../core/ports.js';
import type { Appended, Journal, LedgerIdentity, OnCommitted } from '../core/ports.js';
import { FENCE_STATEMENTS } from './fence.js';
import type { Fence } from './fence.js';
import { Lane } from './lane.js';
import type { GroupReport } from './lane.js';
import type { PostgresOptions } from './options.js';
import { Session } from './session.js';
import { ACCOUNT_STATEMENTS } from './sql/accounts.js';
import { EVENT_STATEMENTS } from './sql/events.js';
import { FUNDING_STATEMENTS } from './sql/fundings.js';
import { HEAD_STATEMENTS } from './sql/heads.js';
import { MAX_COST_STATEMENTS } from './sql/max-costs.js';
import { RESERVATION_STATEMENTS } from './sql/reservations.js';
import type { Statement } from './statement.js';

export interface JournalOptions {
  readonly postgres: PostgresOptions;
  readonly identity: LedgerIdentity;
  readonly settings?: DecideSettings;
  /** Group commits under way at once, each over a connection of its own; a partition belongs to one. Default 2. */
  readonly lanes?: number;
  /** Most commands in one group. Default 512. */
  readonly groupMax?: number;
  /** Most commands that wait, over all lanes. Default 10,000. */
  readonly queueMax?: number;
  /** The longest that a command may wait for its group to begin, ms. Default 5,000. */
  readonly waitMs?: number;
  /** How long the outcome of a broken commit is looked for, ms. Default 15,000. */
  readonly outcomeTimeoutMs?: number;
  /** Looks at the database behind each new connection. Absent (tests of other things): none is looked at. */
  readonly fence?: Fence;
  readonly onCommitted?: OnCommitted;
  readonly onGroup?: (report: GroupReport) => void;
  /** Told of what an operator should see. Must not raise. */
  readonly onFault: (error: unknown, what: string) => void;
}

/** What the append path runs. */
export const APPEND_STATEMENTS: readonly Statement<unknown>[] = [
  ...HEAD_STATEMENTS,
  ...EVENT_STATEMENTS,
  ...ACCOUNT_STATEMENTS,
  ...RESERVATION_STATEMENTS,
  ...FUNDING_STATEMENTS,
  ...MAX_COST_STATEMENTS,
  ...FENCE_STATEMENTS,
];

/** Between two round trips of a group nothing is waited for but our own computing: a longer pause is a stuck process. */
const IDLE_IN_TRANSACTION_MS = 10_000;

const openFenced = async ({ postgres, fence }: JournalOptions): Promise<Session> => {
  const settings = { statements: APPEND_STATEMENTS, idleInTransactionMs: IDLE_IN_TRANSACTION_MS };
  const session = await Session.open(postgres, settings);
  try {
    await fence?.pass(session);
  } catch (error) {
    session.destroy();
    throw error;
  }
  return session;
};

/** The commit point on Postgres: commands are decided under the heads' locks and committed in groups (design, section 2). */
export class PostgresJournal implements Journal {
  readonly #lanes: readonly Lane[];
  readonly #partitions: number;
  readonly #queueMax: number;
  #closing: Promise<void> | undefined;

  /** Connects at the first command, not before. */
  constructor(options: JournalOptions) {
    this.#partitions = options.identity.partitions;
    this.#queueMax = options.queueMax ?? 10_000;
    const lane = {
      context: { ledger: options.identity.ledger, settings: options.settings ?? DEFAULT_DECIDE_SETTINGS },
      openSession: () => openFenced(options),
      groupMax: options.groupMax ?? 512,
      waitMs: options.waitMs ?? 5_000,
      outcomeTimeoutMs: options.outcomeTimeoutMs ?? 15_000,
      onCommitted: (partition: number, events: readonly StoredEvent[]) => {
        options.fence?.committed(partition, events);
        options.onCommitted?.(partition, events);
      },
      onGroup: options.onGroup ?? (() => undefined),
      onFault: options.onFault,
    };
    this.#lanes = Array.from({ length: options.lanes ?? 2 }, () => new Lane(lane));
  }

  /** Commands that wait for their group to begin. */
  get waiting(): number {
    return this.#lanes.reduce((sum, lane) => sum + lane.waiting, 0);
  }

  /**
   * Decides and commits a command; resolves once it is durable.
   * Raises UnavailableError: `journal_overloaded` (too many wait, or it waited too long) and `journal_unavailable`
   * (Postgres is away or refuses) say that it surely did not happen; `outcome_unknown` that this can't be learnt now;
   * `stopping` after `close`. Any other error is a bug in deciding this command, which then changed nothing.
   */
  append(command: Command): Promise<Appended> {
    return new Promise((resolve, reject) => {
      if (this.#closing !== undefined) throw new UnavailableError('stopping', 'The journal is closing.');
      if (command.kind === 'open_account' && tenantOf(command.account) !== command.tenant)
        throw new Error(`Account ${command.account} is not one of tenant ${command.tenant}.`);
      if (this.waiting >= this.#queueMax)
        throw new UnavailableError('journal_overloaded', `${this.waiting.toString()} commands wait for the journal.`);
      const partition = partitionOf(command.tenant, this.#partitions);
      const lane = this.#lanes[partition % this.#lanes.length];
      if (lane === undefined) throw new Error('A journal has at least one lane.');
      lane.push({ command, partition, resolve, reject, sinceMs: performance.now() });
    });
  }

  /** Connects now. Whatever keeps it from that is told to `onFault`, and tried again at the first command. */
  async connect(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.connect()));
  }

  /** Takes no more commands, answers those that it has, and closes its connections. */
  close(): Promise<void> {
    this.#closing ??= Promise.all(this.#lanes.map((lane) => lane.drain())).then(() => undefined);
    return this.#closing;
  }
}
