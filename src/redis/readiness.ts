import type { PartitionInfo, Readiness, ReadyOutcome } from '../core/ports.js';
import type { MaxCost } from '../core/state.js';
import { listAt, numberAt, optionalAt, textAt, unknownWord } from './answers.js';
import { readCheckpoint } from './balances.js';
import { faultOf } from './errors.js';
import { maxCostText } from './event-text.js';
import type { Masters } from './masters.js';

/** Most copies of max_cost in one script. */
const COPIES_MAX = 500;

const READY_WORDS: Readonly<Record<string, ReadyOutcome>> = {
  rebuilding: 'rebuilding',
  no_checkpoint: 'no_checkpoint',
  epoch_differs: 'epoch_differs',
  behind: 'behind',
};

/** What Redis knows of its partitions, and the way to open them to holds. */
export class RedisReadiness implements Readiness {
  constructor(private readonly masters: Masters) {}

  async info(partitions: readonly number[]): Promise<ReadonlyMap<number, PartitionInfo>> {
    const found = new Map<number, PartitionInfo>();
    // All are sent before the first answer is awaited: one round trip for each master.
    await Promise.all(
      partitions.map(async (partition) => {
        const info = await this.infoOf(partition);
        if (info !== undefined) found.set(partition, info);
      }),
    );
    return found;
  }

  async putMaxCosts(partition: number, maxCosts: readonly MaxCost[]): Promise<boolean> {
    for (let from = 0; from < maxCosts.length; from += COPIES_MAX) {
      const route = this.masters.route(partition);
      if (route === undefined) return false;
      const copies = maxCosts.slice(from, from + COPIES_MAX).map(maxCostText);
      const texts = copies.flatMap((copy) => [copy.field, copy.revision, copy.amount, copy.room]);
      try {
        await route.connection.run('models', route.keys, {}, texts);
      } catch (error) {
        this.masters.note(faultOf(error), 'models');
        return false;
      }
    }
    return true;
  }

  async ready(partition: number, head: number): Promise<ReadyOutcome> {
    const outcome = await this.tryReady(partition, head);
    if (outcome !== 'epoch_differs') return outcome;
    // A Redis that was emptied under the same run id has lost its epoch: told again, it is as good as any.
    const route = this.masters.route(partition);
    if (route === undefined) return 'unreachable';
    try {
      await route.connection.run('epoch', route.keys, { epoch: route.epoch.toString() });
    } catch (error) {
      this.masters.note(faultOf(error), 'epoch');
      return 'unreachable';
    }
    const again = await this.tryReady(partition, head);
    if (again === 'epoch_differs') this.masters.refreshSoon();
    return again;
  }

  private async tryReady(partition: number, head: number): Promise<ReadyOutcome> {
    const route = this.masters.route(partition);
    if (route === undefined) return 'unreachable';
    const args = { epoch: route.epoch.toString(), head: head.toString() };
    try {
      const { word, rest } = await route.connection.run('ready', route.keys, args);
      if (word === 'ready') return 'ready';
      const outcome = READY_WORDS[textAt(rest, 0)];
      if (word !== 'unready' || outcome === undefined) throw unknownWord('ready', word);
      return outcome;
    } catch (error) {
      this.masters.note(faultOf(error), 'ready');
      return 'unreachable';
    }
  }

  private async infoOf(partition: number): Promise<PartitionInfo | undefined> {
    const route = this.masters.route(partition);
    if (route === undefined) return undefined;
    try {
      const { rest } = await route.connection.run('info', route.keys, {});
      const known = listAt(rest, 0);
      const checkpoint = readCheckpoint(partition, known);
      const epoch = Number(optionalAt(known, 3) ?? '0');
      const rebuilding = optionalAt(known, 5) !== undefined;
      const opened = epoch === route.epoch && optionalAt(known, 4) === epoch.toString();
      return {
        partition,
        ...(checkpoint === undefined ? {} : { checkpoint }),
        epoch,
        ready: opened && checkpoint !== undefined && !rebuilding,
        rebuilding,
        speculations: numberAt(rest, 1),
        reservations: numberAt(rest, 2),
        accounts: numberAt(rest, 3),
        closings: numberAt(rest, 4),
      };
    } catch (error) {
      this.masters.note(faultOf(error), 'info');
      return undefined;
    }
  }
}
