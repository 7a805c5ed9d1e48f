/** One partition in a real Redis, beside the reference log that the core makes. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { inject } from 'vitest';
import type { StoredEvent } from '../../events/index.js';
import type { Command, Reserve } from '../../src/core/command.js';
import { NO_AMOUNTS } from '../../src/core/command.js';
import type { ApplyOutcome, BalanceSample } from '../../src/core/ports.js';
import type { Decision } from '../../src/core/decide/index.js';
import { openRedis } from '../../src/redis/index.js';
import type { OpenRedis, RedisNotice, RedisSide } from '../../src/redis/index.js';
import { partitionKeys } from '../../src/redis/keys.js';
import type { PartitionKeys } from '../../src/redis/keys.js';
import { SCRIPTS } from '../../src/redis/script-contracts.js';
import type { ScriptArgs, ScriptName } from '../../src/redis/script-contracts.js';
import { loadScripts } from '../../src/redis/script-files.js';
import { sharesOf } from '../../src/redis/slots.js';
import { ReferenceLog } from '../model/reference-log.js';
import { EpochsInMemory } from './epochs-in-memory.js';

export const PARTITION = 0;

export interface Harness {
  readonly side: RedisSide;
  readonly log: ReferenceLog;
  readonly epochs: EpochsInMemory;
  readonly keys: PartitionKeys;
  /** A plain client of the same server, to look behind the scripts. */
  readonly raw: Redis;
  readonly notices: RedisNotice[];
  /** Decides commands in the reference log; applies nothing. */
  decide(...commands: readonly Command[]): { decision: Decision; events: readonly StoredEvent[] };
  /** Applies what Redis does not have yet. */
  apply(): Promise<ApplyOutcome>;
  /** Writes the reference state into Redis by a rebuild, and makes the partition ready. */
  rebuild(): Promise<void>;
  sample(): Promise<BalanceSample>;
  close(): Promise<void>;
}

export type HarnessOptions = Partial<OpenRedis['settings']> &
  Pick<OpenRedis, 'orphanAgeMs'> & {
    /** Where to look behind the scripts, when the adapter goes through a proxy. */
    readonly rawUrl?: string;
  };

/** Opens a partition under a prefix of its own; not ready until `rebuild`. */
export const openHarness = async ({ orphanAgeMs, rawUrl, ...settings }: HarnessOptions = {}): Promise<Harness> => {
  const url = settings.url ?? inject('redisUrl');
  const keyPrefix = settings.keyPrefix ?? `t${randomBytes(6).toString('hex')}`;
  const epochs = new EpochsInMemory();
  const notices: RedisNotice[] = [];
  const log = new ReferenceLog(PARTITION);
  const side = await openRedis({
    // A busy machine must not look like a silent server: what is about timeouts sets its own.
    settings: { timeoutMs: 10_000, ...settings, url, keyPrefix },
    partitions: 1,
    epochs,
    onNotice: (notice) => notices.push(notice),
    ...(orphanAgeMs === undefined ? {} : { orphanAgeMs }),
  });
  const keys = partitionKeys(keyPrefix, PARTITION);
  const raw = await ownerOf(rawUrl ?? url, keys);
  return {
    side,
    log,
    epochs,
    keys,
    raw,
    notices,
    decide: (...commands) => decideAll(log, commands),
    apply: () => applyRest(side, log),
    rebuild: () => rebuildFrom(side, log),
    sample: async () => {
      const sample = await side.reader.sample(PARTITION, [...log.state.accounts.keys()]);
      if (sample === undefined) throw new Error('Redis has no checkpoint.');
      return sample;
    },
    close: async () => {
      await side.stop();
      const left = await raw.keys(`{${keyPrefix}:*`);
      if (left.length > 0) await raw.unlink(...left);
      raw.disconnect();
    },
  };
};

/** A plain client of the server that holds the partition: in a Cluster, the master of its slot. */
const ownerOf = async (url: string, keys: PartitionKeys): Promise<Redis> => {
  const [seed = url] = url.split(',');
  const first = new Redis(seed);
  if (!(await first.info('cluster')).includes('cluster_enabled:1')) return first;
  const asked = { host: first.options.host ?? '127.0.0.1', port: first.options.port ?? 6379 };
  const [share] = sharesOf(await first.cluster('SLOTS'), asked, [keys]);
  first.disconnect();
  if (share === undefined) throw new Error('No server of this Cluster holds the partition.');
  return first.duplicate(share.address);
};

/** Runs a script by hand: what the adapter would never send. */
export const callScript = async <N extends ScriptName>(
  h: Harness,
  name: N,
  args: ScriptArgs<N>,
  more: readonly string[] = [],
): Promise<unknown[]> => {
  const { keys, args: names } = SCRIPTS[name];
  const values = names.map((arg) => (args as Readonly<Record<string, string>>)[arg] ?? '');
  const source = loadScripts().get(name)?.source ?? '';
  return (await h.raw.eval(source, keys.length, ...keys.map((key) => h.keys[key]), ...values, ...more)) as unknown[];
};

const decideAll = (
  log: ReferenceLog,
  commands: readonly Command[],
): { decision: Decision; events: readonly StoredEvent[] } => {
  let last: { decision: Decision; events: readonly StoredEvent[] } | undefined;
  for (const command of commands) last = log.execute(command);
  if (last === undefined) throw new Error('Decide at least one command.');
  return last;
};

const applyRest = async (side: RedisSide, log: ReferenceLog): Promise<ApplyOutcome> => {
  const from = (await side.balances.checkpoint(PARTITION))?.position ?? 0;
  const run = log.after(from);
  if (run.length === 0) return { kind: 'applied', checkpoint: from };
  return side.balances.apply(PARTITION, log.incarnation, run);
};

const rebuildFrom = async (side: RedisSide, { state, head, incarnation }: ReferenceLog): Promise<void> => {
  const rebuild = await side.rebuild.begin(PARTITION);
  const known = rebuild.speculations.filter(({ tenant, id }) => state.reservations.has(`${tenant}/${id}`));
  await rebuild.accounts([...state.accounts.values()]);
  await rebuild.reservations([...state.reservations.values()]);
  await rebuild.dropKnown(known);
  await rebuild.maxCosts([...state.maxCosts.values()]);
  await rebuild.end({ ...head, incarnation });
  const ready = await side.readiness.ready(PARTITION, head.position);
  if (ready !== 'ready') throw new Error(`The partition is not ready after its rebuild: ${ready}.`);
};

/** A reserve with the usual contents; say only what matters to the test. */
export const reserveOf = (id: string, given: Partial<Reserve> = {}): Reserve => ({
  kind: 'reserve',
  tenant: 'acme',
  id,
  accounts: ['acme'],
  requested: NO_AMOUNTS,
  policy: 'larger',
  ttlSeconds: 600,
  level: 'durable',
  ...given,
});

export const sole = (amount: bigint): Reserve['requested'] => ({ kind: 'sole', amount });
export const byUnit = (amounts: Readonly<Record<string, bigint>>): Reserve['requested'] => ({
  kind: 'by_unit',
  amounts: new Map(Object.entries(amounts)),
});

/** Opens an account and, when `amount` is above 0, pays in. */
export const funded = (
  account: string,
  amount: bigint,
  given: { unit?: string; overdraftLimit?: bigint; exempt?: boolean } = {},
): Command[] => {
  const [tenant = account] = account.split('/');
  const open: Command = {
    kind: 'open_account',
    tenant,
    account,
    unit: given.unit ?? 'USD',
    scale: 6,
    overdraftLimit: given.overdraftLimit ?? 0n,
    exempt: given.exempt ?? false,
  };
  if (amount === 0n) return [open];
  return [open, { kind: 'recharge', tenant, account, id: `pay-${account}`, amount }];
};
