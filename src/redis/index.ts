/** The Redis side of the ledger: a guard for reserves and a projection of balances. */
import type { BalancesReader, BalancesStore, EpochRegistry, Holds, Orphans } from '../core/ports.js';
import type { Readiness, RebuildTarget } from '../core/ports.js';
import { RedisBalances } from './balances.js';
import { RedisHolds } from './holds.js';
import { Masters } from './masters.js';
import type { RedisNotice } from './masters.js';
import { ORPHAN_AGE_MS, RedisOrphans } from './orphans.js';
import { RedisReadiness } from './readiness.js';
import { RedisRebuildTarget } from './rebuild.js';
import { RedisBalancesReader } from './sample.js';
import { loadScripts } from './script-files.js';
import { Seen } from './seen.js';
import { DEFAULT_REDIS_SETTINGS } from './settings.js';
import type { RedisSettings } from './settings.js';

export { emptyRedis } from './empty.js';
export { RedisSettingError } from './errors.js';
export { ledgerKeyPrefix } from './keys.js';
export type { RedisNotice } from './masters.js';
export { ORPHAN_AGE_MS } from './orphans.js';
export { LuaIncludeError, scriptDigests } from './script-files.js';
export { DEFAULT_REDIS_SETTINGS } from './settings.js';
export type { RedisSettings } from './settings.js';

export interface OpenRedis {
  readonly settings: Pick<RedisSettings, 'url'> & Partial<RedisSettings>;
  /** How many partitions the ledger has. */
  readonly partitions: number;
  readonly epochs: EpochRegistry;
  readonly onNotice?: (notice: RedisNotice) => void;
  /** Age at which a speculation is an orphan, ms; tests make it short. */
  readonly orphanAgeMs?: number;
}

/** Everything that the ledger asks of Redis. */
export interface RedisSide {
  readonly holds: Holds;
  readonly balances: BalancesStore;
  readonly readiness: Readiness;
  readonly orphans: Orphans;
  readonly rebuild: RebuildTarget;
  readonly reader: BalancesReader;
  /** True when the partition's server is connected and compared: then its scripts can be called. */
  isReachable(partition: number): boolean;
  /**
   * From now on this node's holds are answered by Redis only once it has applied `position`: whoever was told of a
   * balance must not be refused by one from before.
   */
  requireApplied(partition: number, incarnation: number, position: number): void;
  /** Compares servers, slots and epochs now instead of at the next round. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Connects to Redis and keeps connections up in the background; a Redis that is away is no error.
 * Raises RedisSettingError when an address, a file or the server's eviction policy can't be used.
 */
export const openRedis = async (options: OpenRedis): Promise<RedisSide> => {
  const settings: RedisSettings = { ...DEFAULT_REDIS_SETTINGS, ...options.settings };
  const masters = new Masters({
    settings,
    partitions: options.partitions,
    scripts: loadScripts(),
    epochs: options.epochs,
    onNotice: options.onNotice ?? (() => undefined),
  });
  await masters.start();
  const seen = new Seen();
  return {
    holds: new RedisHolds(masters, seen, settings.timeoutMs),
    balances: new RedisBalances(masters, seen, settings),
    readiness: new RedisReadiness(masters),
    orphans: new RedisOrphans(masters, options.orphanAgeMs ?? ORPHAN_AGE_MS),
    rebuild: new RedisRebuildTarget(masters),
    reader: new RedisBalancesReader(masters),
    isReachable: (partition) => masters.route(partition) !== undefined,
    requireApplied: (partition, incarnation, position) => seen.note(partition, incarnation, position),
    refresh: () => masters.refresh(),
    stop: () => masters.stop(),
  };
};
