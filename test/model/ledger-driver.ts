/** Drives the fold, the real SQL and the real Lua side by side, step by step. */
import { expect } from 'vitest';
import { UnavailableError } from '../../src/core/ports.js';
import { rebuildPartition } from '../../src/recovery/rebuild.js';
import { verifyJournalPartition } from '../../src/recovery/verify-journal.js';
import { decode } from '../integration/journal-setting.js';
import type { Bench } from '../integration/journal-setting.js';
import { PARTITION } from '../lua/harness.js';
import { HeldUpRebuild } from './held-up-rebuild.js';
import { LedgerPartition } from './ledger-partition.js';
import type { LedgerStep } from './ledger-steps.js';
import { WORLD } from './random-commands.js';
import { expectRedisToAgree } from './redis-check.js';
import { RedisDriver } from './redis-driver.js';
import { SqlCheck } from './sql-check.js';
import { SqlLog } from './sql-log.js';

/** Closed ids that a rebuild brings back: all of them, so that the records can be compared with the fold's. */
const CLOSED_WITHIN_MS = 100 * 365 * 86_400_000;

export class LedgerDriver {
  private readonly check: SqlCheck;
  private readonly redis: RedisDriver;
  private heldUp: { readonly rebuild: HeldUpRebuild; overtaken: boolean } | undefined;

  private constructor(
    readonly log: SqlLog,
    private readonly partition: LedgerPartition,
  ) {
    this.check = new SqlCheck(log);
    this.redis = new RedisDriver(partition, log);
  }

  /** A database and a Redis partition with a world of accounts, ready. Takes the database over. */
  static async open(bench: Bench): Promise<LedgerDriver> {
    const log = await SqlLog.open(bench);
    const partition = await LedgerPartition.open(log, () => rebuild(log, partition, false));
    const driver = new LedgerDriver(log, partition);
    await log.appendTogether(WORLD);
    await partition.rebuild();
    await driver.expectAgreement();
    return driver;
  }

  async close(): Promise<void> {
    await this.heldUp?.rebuild.goOn().catch(() => undefined);
    await this.partition.close();
    await this.log.close();
  }

  /** Does a step, and compares everything. */
  async take(step: LedgerStep): Promise<void> {
    await this.act(step);
    await this.expectAgreement();
  }

  /** Brings Redis up to the log's head and ends every speculation; then rebuilds it from the events, and verifies the journal. */
  async finish(): Promise<void> {
    await this.endRebuild();
    await this.redis.finish();
    await this.rebuildWhole(true);
    await this.expectAgreement();
    expect((await this.partition.sample()).speculations).toEqual([]);
    const { audit } = this.log.bench.reading;
    const { mismatches, drift } = await verifyJournalPartition(audit, PARTITION, { decode });
    expect({ mismatches, drift }).toEqual({ mismatches: 0, drift: 0 });
  }

  private async expectAgreement(): Promise<void> {
    await Promise.all([this.check.expectAgreement(), expectRedisToAgree(this.partition)]);
  }

  private async act(step: LedgerStep): Promise<void> {
    switch (step.do) {
      case 'together':
        await this.log.appendTogether(step.commands);
        return;
      case 'broken':
        return this.takeBroken(step);
      case 'raced':
        await this.redis.act({ do: 'hold', command: step.held });
        await this.log.append(step.appended);
        return;
      case 'restart':
        return this.restart();
      case 'rebuild_from_events':
        return this.rebuildWhole(true);
      case 'begin_rebuild':
        return this.beginRebuild(step.calls, step.replay);
      case 'end_rebuild':
        return this.endRebuild();
      case 'rebuild':
      case 'lose_all':
        // Whatever rebuild was under way has lost its token.
        if (this.heldUp !== undefined) this.heldUp.overtaken = true;
        return this.redis.act(step);
      case 'roll_back':
        // Redis may be back at a moment at which that rebuild was the last to have begun.
        if (this.heldUp !== undefined) this.heldUp.overtaken = false;
        return this.redis.act(step);
      case 'reserve':
      case 'reserve_again':
      case 'hold':
      case 'append':
      case 'apply':
      case 'sweep':
      case 'pass_time':
      case 'flush_scripts':
      case 'snapshot':
        return this.redis.act(step);
    }
  }

  private async restart(): Promise<void> {
    await this.log.restart();
    await this.partition.reconnect();
    this.redis.forget();
    // A rebuild that was under way ends with its process, where it stood.
    await this.heldUp?.rebuild.goOn();
    this.heldUp = undefined;
  }

  /** The connection breaks, and the caller sends the same once more: the fold knows whether it is the first or a replay. */
  private async takeBroken({ how, held, command }: Extract<LedgerStep, { do: 'broken' }>): Promise<void> {
    const send = async (): Promise<void> => {
      if (held && command.kind === 'reserve') await this.redis.reserve(command);
      else await this.log.append(command);
    };
    this.log.breakNext(how);
    try {
      await send();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      expect(error.code).toBe(how === 'unknown' ? 'outcome_unknown' : 'journal_unavailable');
    }
    this.log.mend();
    await this.expectAgreement();
    await send();
  }

  private async rebuildWhole(replay: boolean): Promise<void> {
    if (this.heldUp !== undefined) this.heldUp.overtaken = true;
    await rebuild(this.log, this.partition, replay);
  }

  private async beginRebuild(calls: number, replay: boolean): Promise<void> {
    if (this.heldUp !== undefined) return;
    const target = this.partition.side.rebuild;
    const started = await HeldUpRebuild.start(target, calls, (gated) => copyRows(this.log, gated, replay));
    if (started !== undefined) this.heldUp = { rebuild: started, overtaken: false };
  }

  private async endRebuild(): Promise<void> {
    if (this.heldUp === undefined) return;
    const { rebuild: late, overtaken } = this.heldUp;
    this.heldUp = undefined;
    const outcome = await late.goOn();
    if (overtaken) expect(outcome, 'a rebuild that was overtaken').toBe('superseded');
  }
}

const copyRows = (log: SqlLog, target: LedgerPartition['side']['rebuild'], replay: boolean): Promise<unknown> => {
  const { snapshots } = log.bench.reading;
  return rebuildPartition({ target, snapshots, closedWithinMs: CLOSED_WITHIN_MS, replay }, PARTITION);
};

/** Rebuilds Redis from Postgres, and makes the partition ready as the readiness keeper does. */
const rebuild = async (log: SqlLog, { side }: LedgerPartition, replay: boolean): Promise<void> => {
  await copyRows(log, side.rebuild, replay);
  const { reader } = log.bench.reading;
  const [head] = await reader.heads([PARTITION]);
  expect(await side.readiness.putMaxCosts(PARTITION, await reader.maxCosts())).toBe(true);
  expect(await side.readiness.ready(PARTITION, head?.position ?? 0)).toBe('ready');
};
