import { createHash } from 'node:crypto';
import type { Buckets } from '../../events/index.js';
import type { Head } from '../core/ports.js';
import type { Reservation } from '../core/state.js';

/*
 * What two sites compare, byte by byte (docs/EVENTS.md has it for whoever checks it by other means). All is text in UTF-8, each
 * line ends with "\n", sorted by bytes; names and ids are ASCII without "|", "=" and blanks:
 *   account   = SHA-256( "holdfast-account-digest-v1", "account|unit|available|held|used|funded",
 *                        then for each hold open on it, by id: "id=unit=amount" )
 *   partition = SHA-256( "holdfast-partition-digest-v1", "partition|position|hash of the event there",
 *                        then for each account, by name: "account digest" )
 *   ledger    = SHA-256( "holdfast-ledger-digest-v1", then for each partition, in order: "partition digest" )
 */

/** An account as a digest sees it. Amounts in the unit's smallest part. */
export interface DigestedAccount extends Buckets {
  readonly account: string;
  readonly unit: string;
}

/** What one open reservation holds of each of its accounts. */
export interface OpenHold {
  readonly id: string;
  readonly amounts: readonly { readonly account: string; readonly unit: string; readonly amount: bigint }[];
}

/** A partition at one position: every account, and every hold that is open there. */
export interface PartitionState {
  readonly head: Head;
  readonly accounts: readonly DigestedAccount[];
  readonly holds: readonly OpenHold[];
}

/** A partition in one hash. Hashes in lower-case hex. */
export interface PartitionDigest extends Head {
  readonly accounts: number;
  readonly openHolds: number;
  readonly digest: string;
  /** Of the account that was asked for. */
  readonly account?: AccountDigest;
}

/** An account in one hash, and the text that it is of. */
export interface AccountDigest {
  readonly account: string;
  readonly digest: string;
  readonly text: string;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What an open reservation of the journal, or of a record in Redis, holds. */
export const openHoldOf = ({ id, accounts, held }: Pick<Reservation, 'id' | 'accounts' | 'held'>): OpenHold => {
  const amounts = new Map(held.map(({ unit, amount }) => [unit, amount]));
  return { id, amounts: accounts.map(({ account, unit }) => ({ account, unit, amount: amounts.get(unit) ?? 0n })) };
};

/** The text of an account, whose SHA-256 is its digest. `holds` are lines of what is open on it, in any order. */
export const accountText = (a: DigestedAccount, holds: readonly string[]): string =>
  textOf([
    'holdfast-account-digest-v1',
    [a.account, a.unit, a.available, a.held, a.used, a.funded].map(String).join('|'),
    ...[...holds].sort(byText),
  ]);

/** The digest of a partition, and of one of its accounts when `wanted` names it. */
export const digestPartition = ({ head, accounts, holds }: PartitionState, wanted?: string): PartitionDigest => {
  const lines = new Map<string, string[]>();
  for (const { id, amounts } of holds)
    for (const { account, unit, amount } of amounts) {
      const line = `${id}=${unit}=${amount.toString()}`;
      const known = lines.get(account);
      if (known === undefined) lines.set(account, [line]);
      else known.push(line);
    }
  const hash = createHash('sha256').update(
    textOf(['holdfast-partition-digest-v1', `${head.partition.toString()}|${head.position.toString()}|${head.hash}`]),
  );
  let asked: AccountDigest | undefined;
  for (const account of [...accounts].sort((a, b) => byText(a.account, b.account))) {
    const text = accountText(account, lines.get(account.account) ?? []);
    const digest = sha256(text);
    hash.update(textOf([`${account.account} ${digest}`]));
    if (account.account === wanted) asked = { account: wanted, digest, text };
  }
  return {
    partition: head.partition,
    position: head.position,
    hash: head.hash,
    accounts: accounts.length,
    openHolds: holds.length,
    digest: hash.digest('hex'),
    ...(asked === undefined ? {} : { account: asked }),
  };
};

/** The digest of a whole ledger, from those of all its partitions in order. */
export const digestLedger = (partitions: readonly Pick<PartitionDigest, 'partition' | 'digest'>[]): string =>
  sha256(
    textOf([
      'holdfast-ledger-digest-v1',
      ...partitions.map(({ partition, digest }) => `${partition.toString()} ${digest}`),
    ]),
  );
