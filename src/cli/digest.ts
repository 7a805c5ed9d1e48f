import { Command, Option } from 'commander';
import { DIGEST_SOURCES, digestHoldfast } from '../compose/digest.js';
import type { DigestSource, LedgerDigest } from '../compose/digest.js';
import { allPartitions, partitionOf } from '../core/partition.js';
import { streamProgress } from '../stack/index.js';
import { EXIT, WrongUseError, exiting } from './exit.js';
import { withLedger } from './open.js';
import { print, printJson, table } from './output.js';
import { countOf, partitionNumber } from './read.js';

interface DigestOptions {
  readonly from: DigestSource;
  readonly partition?: string;
  readonly account?: string;
  readonly at?: string;
  readonly json?: boolean;
}

/** Which partitions are meant: one, an account's, or all. Raises WrongUseError. */
const partitionsOf = ({ partition, account, at }: DigestOptions, count: number): readonly number[] => {
  const ofAccount = account === undefined ? undefined : partitionOf(account.split('/')[0] ?? account, count);
  const asked = partition === undefined ? ofAccount : partitionNumber(partition, count);
  if (asked === undefined) {
    if (at !== undefined)
      throw new WrongUseError('--at is a position of one partition: name it by --partition or --account');
    return allPartitions(count);
  }
  if (ofAccount !== undefined && ofAccount !== asked)
    throw new WrongUseError(`${account ?? ''} is in partition ${ofAccount.toString()}`);
  return [asked];
};

/** The digests as lines: a row for each partition, then the whole, then the account with its text. */
export const digestText = ({ from, partitions, digest }: LedgerDigest): string => {
  const rows = partitions.map((p) =>
    [p.partition, p.position, p.hash.slice(0, 16), p.accounts, p.openHolds, p.digest].map(String),
  );
  const head = ['partition', 'position', 'hash (first 16)', 'accounts', 'open holds', `digest from ${from}`];
  const accounts = partitions.flatMap(({ account }) =>
    account === undefined ? [] : [`account ${account.account}: ${account.digest}`, account.text.trimEnd()],
  );
  return [table(head, rows), ...(digest === undefined ? [] : [`ledger: ${digest}`]), ...accounts].join('\n');
};

const run = (options: DigestOptions): Promise<number> =>
  withLedger(async (holdfast) => {
    const partitions = partitionsOf(options, holdfast.identity.partitions);
    const task = streamProgress(process.stderr).task(`digest from ${options.from}`, partitions.length);
    let done = 0;
    const found = await digestHoldfast(holdfast, {
      from: options.from,
      partitions,
      ...(options.at === undefined ? {} : { at: countOf(options.at, '--at') }),
      ...(options.account === undefined ? {} : { account: options.account }),
      onPartition: () => task.advance(++done, ''),
    }).finally(() => task.end());
    if (options.json) printJson(found);
    else print(digestText(found));
    const missing = options.account !== undefined && found.partitions.every(({ account }) => account === undefined);
    if (!missing) return EXIT.fine;
    process.stderr.write(`holdfast: there is no account ${options.account ?? ''} at that position\n`);
    return EXIT.found;
  });

/** The command `digest`. */
export const digestCommand = (): Command =>
  new Command('digest')
    .description('one hash per partition over balances and open holds: what two sites, or two services, compare')
    .addOption(new Option('--from <service>', 'what it is worked out from').choices(DIGEST_SOURCES).default('postgres'))
    .option('--partition <n>', 'only this partition')
    .option('--account <account>', 'only its partition, and the hash of the account with what it is of')
    .option('--at <position>', 'at an earlier position of the partition; Redis has only its present one')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  holdfast digest --from kafka\n  holdfast digest --from redis --account acme\n' +
        'Equal from Postgres, Kafka and Redis at the same position. docs/EVENTS.md says what is hashed.\nSee also: holdfast verify',
    )
    .action((options: DigestOptions) => exiting(() => run(options)));
