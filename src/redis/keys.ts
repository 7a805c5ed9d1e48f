import calculateSlot from 'cluster-key-slot';

/** The keys of one ledger partition. All share one hash tag, so they lie in one slot of a Cluster. */
export interface PartitionKeys {
  /** Hash: cp, h (checkpoint and its hash), inc, epoch, ready, rb, rbn (a rebuild's token and next step). */
  readonly meta: string;
  /** Set of account names. `<accounts>:<name>` is the account's hash: un, lim, ex, sp (available + overdraft), he, us, fu. */
  readonly accounts: string;
  /** Hash: `tenant/id` of a speculation → its text (lua/include/speculation.lua). */
  readonly specs: string;
  /** Hash: `tenant/id` of a reservation whose Reserved is applied → its record (record.ts). */
  readonly holds: string;
  /** List, oldest first: `ms tenant/id` of closed reservations; their records are dropped in this order. */
  readonly closed: string;
  /** Hash: `model=unit` → `revision amount room`. */
  readonly models: string;
}

export type KeyName = keyof PartitionKeys;

/** The keys of a partition under a prefix; several ledgers may share a Redis under different ones. */
export const partitionKeys = (keyPrefix: string, partition: number): PartitionKeys => {
  const tag = `{${keyPrefix}:${partition.toString()}}`;
  return {
    meta: `${tag}:meta`,
    accounts: `${tag}:a`,
    specs: `${tag}:spec`,
    holds: `${tag}:holds`,
    closed: `${tag}:closed`,
    models: `${tag}:models`,
  };
};

/** The Cluster slot of a partition, 0 to 16383. */
export const slotOf = (keys: PartitionKeys): number => calculateSlot(keys.meta);
