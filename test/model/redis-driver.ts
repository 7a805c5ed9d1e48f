/** Drives a partition of the real Redis beside the reference log, step by step. */
import { expect } from 'vitest';
import type { HoldOutcome } from '../../src/core/ports.js';
import type { Reserve } from '../../src/core/command.js';
import { decide, DEFAULT_DECIDE_SETTINGS } from '../../src/core/decide/index.js';
import type { LedgerState } from '../../src/core/state.js';
import { reserve } from '../../src/service/reserve.js';
import { openHarness, PARTITION } from '../lua/harness.js';
import type { Harness } from '../lua/harness.js';
import { WORLD } from './random-commands.js';
import type { DrivenLog } from './reference-log.js';
import type { Step } from './random-steps.js';
import { expectedBuckets, expectRedisToAgree } from './redis-check.js';

/** The partition that is driven, and the fold that it is compared with. */
export type DrivenPartition = Pick<Harness, 'side' | 'log' | 'raw' | 'keys' | 'apply' | 'rebuild' | 'sample' | 'close'>;

export class RedisDriver {
  private snapshot: ReadonlyMap<string, Buffer> | undefined;
  /** The highest checkpoint that an apply was answered with. */
  private applied = 0;
  private readonly reserves: Reserve[] = [];

  /** `log`: what appends, when it is more than the fold. */
  constructor(
    readonly h: DrivenPartition,
    private readonly log: DrivenLog = h.log,
  ) {}

  /** A partition with a world of accounts, ready. Speculations are orphans at once: nothing waits 30 s. */
  static async open(): Promise<RedisDriver> {
    const h = await openHarness({ orphanAgeMs: 0 });
    h.decide(...WORLD);
    await h.rebuild();
    return new RedisDriver(h);
  }

  close(): Promise<void> {
    return this.h.close();
  }

  /** Does a step, and checks that Redis is what the fold says. */
  async take(step: Step): Promise<void> {
    await this.act(step);
    await expectRedisToAgree(this.h);
  }

  /** Brings Redis up to the log's head and ends every speculation; afterwards both must be the same. */
  async finish(): Promise<void> {
    if ((await this.h.apply()).kind !== 'applied') await this.h.rebuild();
    await this.sweep();
    expect(await expectRedisToAgree(this.h)).toBe(true);
    const { checkpoint, speculations } = await this.h.sample();
    expect(speculations).toEqual([]);
    expect(checkpoint.position).toBe(this.h.log.head.position);
  }

  /** The process ended and another began: it has seen no checkpoint yet. */
  forget(): void {
    this.applied = 0;
  }

  /** Does a step, and compares nothing but its own answers. */
  async act(step: Step): Promise<void> {
    const { side, raw } = this.h;
    switch (step.do) {
      case 'reserve':
        return this.reserve(step.command);
      case 'reserve_again': {
        const command = this.reserves[step.nth % Math.max(1, this.reserves.length)];
        return command === undefined ? undefined : this.reserve(command);
      }
      case 'hold':
        this.reserves.push(step.command);
        await this.checkedHolds().hold(PARTITION, step.command);
        return;
      case 'append':
        await this.log.append(step.command);
        return;
      case 'apply':
        return this.apply(step.back, step.count);
      case 'sweep':
        return this.sweep();
      case 'pass_time':
        return this.log.passTime(step.seconds);
      case 'flush_scripts':
        await raw.script('FLUSH');
        return;
      case 'rebuild':
        return this.h.rebuild();
      case 'snapshot':
        this.snapshot = await this.dump();
        return;
      case 'roll_back':
        return this.rollBack();
      case 'lose_all':
        await this.clear();
        expect(await side.holds.hold(PARTITION, { ...FIRST, id: 'lost' })).toMatchObject({ kind: 'ask_journal' });
        return;
    }
  }

  /** The whole flow of a reserve. Raises what the log raises. */
  async reserve(command: Reserve): Promise<void> {
    this.reserves.push(command);
    await reserve({ holds: this.checkedHolds(), journal: this.log }, PARTITION, command);
  }

  private async apply(back: number, count: number): Promise<void> {
    const { side, log } = this.h;
    const checkpoint = await side.balances.checkpoint(PARTITION);
    const from = Math.max(0, (checkpoint?.position ?? 0) - back);
    const run = await this.log.read(from, count);
    if (run.length === 0) return;
    const outcome = await side.balances.apply(PARTITION, log.incarnation, run);
    if (checkpoint === undefined) expect(outcome).toEqual({ kind: 'not_ready' });
    else if (outcome.kind === 'overflow') expect(await side.balances.checkpoint(PARTITION)).toBeUndefined();
    else expect(outcome).toEqual({ kind: 'applied', checkpoint: Math.max(from + run.length, checkpoint.position) });
    if (outcome.kind === 'applied') this.applied = Math.max(this.applied, outcome.checkpoint);
  }

  private async sweep(): Promise<void> {
    const { side } = this.h;
    for (const { tenant, id } of await side.orphans.orphans(PARTITION, 1000))
      expect(await side.orphans.voidOrphan(PARTITION, tenant, id)).toBe(true);
  }

  /** The holds, with every answer compared with what the core would decide on what Redis knows. */
  private checkedHolds() {
    const { holds, readiness } = this.h.side;
    return {
      hold: async (partition: number, command: Reserve): Promise<HoldOutcome> => {
        const info = (await readiness.info([PARTITION])).get(PARTITION);
        const expected = info?.ready === true ? await this.expectedHold(command) : { kind: 'ask_journal' };
        const outcome = await holds.hold(partition, command);
        expect(outcome, JSON.stringify(command.accounts)).toMatchObject(expected);
        return outcome;
      },
      release: holds.release.bind(holds),
      settle: holds.settle.bind(holds),
    };
  }

  private async expectedHold(command: Reserve): Promise<object> {
    const { checkpoint, speculations } = await this.h.sample();
    if (checkpoint.position < this.applied) return { kind: 'ask_journal', why: 'went_back' };
    const state = this.h.log.stateAt(checkpoint.position);
    const buckets = expectedBuckets(state, speculations);
    for (const [name, account] of state.accounts) state.accounts.set(name, { ...account, ...buckets.get(name) });
    const before = speculations.find(({ id }) => id === command.id);
    // A speculation's contents are its own business here: tests by hand cover what matches and what does not.
    if (before !== undefined && !state.reservations.has(`${command.tenant}/${command.id}`)) return {};
    return expectedOf(state, command, this.h.log.nowMs);
  }

  private async dump(): Promise<Map<string, Buffer>> {
    const dumped = new Map<string, Buffer>();
    for (const key of await this.keys()) {
      const value = await this.h.raw.dumpBuffer(key);
      dumped.set(key, value);
    }
    return dumped;
  }

  private async rollBack(): Promise<void> {
    if (this.snapshot === undefined) return;
    await this.clear();
    for (const [key, value] of this.snapshot) await this.h.raw.restore(key, 0, value);
  }

  private async clear(): Promise<void> {
    const keys = await this.keys();
    if (keys.length > 0) await this.h.raw.unlink(...keys);
  }

  private keys(): Promise<string[]> {
    return this.h.raw.keys(`${this.h.keys.meta.slice(0, -':meta'.length)}:*`);
  }
}

const FIRST: Reserve = {
  kind: 'reserve',
  tenant: 'acme',
  id: 'first',
  accounts: ['acme'],
  requested: { kind: 'sole', amount: 1n },
  policy: 'larger',
  ttlSeconds: 60,
  level: 'durable',
};

/** What a hold must answer where the core decides like this on Redis's own balances. */
const expectedOf = (state: LedgerState, command: Reserve, nowMs: number): object => {
  const verdict = decide(state, command, nowMs, DEFAULT_DECIDE_SETTINGS);
  switch (verdict.kind) {
    case 'replay': {
      if (verdict.answer.kind !== 'reservation') throw new Error('A reserve was answered with something else.');
      const { reservation } = verdict.answer;
      return reservation.metadata === undefined ? { kind: 'known', reservation } : { kind: 'ask_journal' };
    }
    case 'reject': {
      const { code, ...rest } = verdict.rejection;
      return code === 'insufficient_quota' ? { kind: 'refused', ...rest } : { kind: 'ask_journal' };
    }
    case 'write': {
      const { payload } = verdict.drafts[0];
      if (payload.name !== 'Reserved') throw new Error('A reserve wrote something else.');
      return { kind: 'held', amounts: new Map(payload.data.postings.map((p) => [p.unit, p.held])) };
    }
  }
};
