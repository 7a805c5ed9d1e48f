import { BUCKETS } from '../../events/index.js';
import type { Buckets } from '../../events/index.js';
import type { SnapshotReader } from '../core/ports.js';
import { compareBalances } from './compare-balances.js';
import type { BalanceDrift, CompareParts } from './compare-balances.js';
import { Findings } from './finding.js';

/** Accounts in one comparison: one script call and one snapshot each. */
const CHUNK = 500;
const TRIES = 20;
const PAUSE_MS = 100;

export interface BalancesVerdict {
  readonly accounts: number;
  readonly findings: Findings;
  /** Why it could not be said, when it couldn't. */
  readonly putOff?: string;
}

const text = (buckets: Buckets | undefined): string =>
  buckets === undefined ? 'nothing' : BUCKETS.map((bucket) => `${bucket} ${buckets[bucket].toString()}`).join(', ');

/** One drift in words. */
export const describeDrift = ({ journal, redis }: BalanceDrift): string =>
  `Redis says ${text(redis)}; the journal says ${text(journal)}`;

/**
 * Compares every account of one partition in Redis with the journal, beside live traffic; those that either has. A
 * partition that is being rebuilt is waited for, for about two seconds. Raises UnavailableError.
 */
export const verifyBalances = async (parts: CompareParts, partition: number): Promise<BalancesVerdict> => {
  const findings = new Findings();
  let accounts = 0;
  for (const names of chunks(await accountNames(parts, partition))) {
    const comparison = await settled(() => compareBalances(parts, partition, names));
    if (comparison.kind === 'put_off') return { accounts, findings, putOff: comparison.why };
    accounts += comparison.accounts;
    for (const drift of comparison.drifts)
      findings.add({ where: 'redis', partition, account: drift.account, what: describeDrift(drift) });
  }
  return { accounts, findings };
};

const settled = async <T extends { readonly kind: string }>(attempt: () => Promise<T>): Promise<T> => {
  let outcome = await attempt();
  for (let tries = 1; tries < TRIES && outcome.kind === 'put_off'; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    outcome = await attempt();
  }
  return outcome;
};

const accountNames = async (parts: CompareParts, partition: number): Promise<readonly string[]> => {
  const names = new Set(await journalNames(parts.snapshots, partition));
  for (let cursor = '0'; ;) {
    const page = await parts.balances.accountNames(partition, cursor);
    if (page === undefined) break;
    for (const name of page.names) names.add(name);
    if (page.cursor === '0') break;
    cursor = page.cursor;
  }
  return [...names];
};

const journalNames = (snapshots: SnapshotReader, partition: number): Promise<string[]> =>
  snapshots.withSnapshot(partition, async (snapshot) => {
    const names: string[] = [];
    for await (const accounts of snapshot.accounts(CHUNK)) for (const { account } of accounts) names.push(account);
    return names;
  });

const chunks = function* <T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += CHUNK) yield items.slice(at, at + CHUNK);
};
