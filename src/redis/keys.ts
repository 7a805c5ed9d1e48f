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

const LEDGER_DIGITS = 12;

/**
 * What every key of one ledger begins with: the operator's prefix, then the first 12 hexadecimal digits of the ledger's id (a UUID,
 * so 48 random bits). Bound to its ledger, a Redis can't answer for another one that was pointed at it by mistake, or that
 * was created anew in an empty database: that one finds nothing here, and fills its own keys.
 */
export const ledgerKeyPrefix = (keyPrefix: string, ledger: string): string =>
  `${keyPrefix}:${ledger.replaceAll('-', '').slice(0, LEDGER_DIGITS)}`;

/** The keys of a partition under a ledger's prefix. */
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
