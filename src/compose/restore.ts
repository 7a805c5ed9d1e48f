import type { Logger } from 'pino';
import type { Config } from '../config/settings.js';
import { ifElected } from '../core/election.js';
import { allPartitions } from '../core/partition.js';
import type { Elections, Head } from '../core/ports.js';
import {
  PostgresElections,
  adoptLedger,
  concludeRestore,
  openLedger,
  openReading,
  openRestoring,
} from '../journal/index.js';
import type { JournalReading, LedgerRecord } from '../journal/index.js';
import { KafkaLink, LogSender, ensureTopic, ledgersOn, readTopic } from '../kafka/index.js';
import { restoreFromKafka } from './restore-from-kafka.js';
import type { PartitionRestored, ReadLog } from './restore-from-kafka.js';
import { restoreToKafka } from './restore-to-kafka.js';
import { RestoreRefusedError, beginning } from './restore-walk.js';
import type { WalkStart } from './restore-walk.js';
import { compileDecodeBody } from '../validation/decode-body.js';
import { kafkaSettings, postgresOptions } from './options.js';

export interface RestoreOptions {
  readonly from: 'kafka' | 'postgres';
  /** All when absent. */
  readonly partition?: number;
  readonly dryRun: boolean;
  /** Which ledger of the topic, when it holds several and the database is empty. */
  readonly ledger?: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** `total` is 0 while it is not known. */
  readonly onProgress: (step: string, done: number, total: number) => void;
}

export interface Restored {
  readonly ledger: string;
  /** True when the empty database took, or would take, the id of the ledger on the topic. */
  readonly adopted: boolean;
  readonly partitions: readonly PartitionRestored[];
}

/** The office of whoever restores this database. */
const RESTORE = 'restore';

interface Place {
  readonly config: Config;
  readonly options: RestoreOptions;
  readonly identity: LedgerRecord;
  readonly reading: JournalReading;
  readonly link: KafkaLink;
  readonly partitions: readonly number[];
}

/**
 * Fills an empty or older Postgres from Kafka's log, or the topic from the journal. Raises RestoreRefusedError, JournalMovedError,
 * LedgerMismatchError, TopicRefusedError, KafkaError, UnavailableError, SessionLostError, StatementError.
 */
export const restore = async (config: Config, options: RestoreOptions): Promise<Restored> => {
  const postgres = postgresOptions(config);
  const identity = await openLedger(postgres, config.ledger);
  const { partition } = options;
  if (partition !== undefined && partition >= identity.partitions)
    throw new RestoreRefusedError(`The ledger has the partitions 0 to ${(identity.partitions - 1).toString()}.`);
  const partitions = partition === undefined ? allPartitions(identity.partitions) : [partition];
  const elections = new PostgresElections(postgres);
  const link = new KafkaLink(kafkaSettings(config), options.logger);
  const reading = openReading({ postgres, identity, decode: compileDecodeBody(), poolMax: 2 });
  try {
    const place = { config, options, identity, reading, link, partitions };
    return await alone(elections, () => (options.from === 'kafka' ? fromKafka(place) : toKafka(place)));
  } finally {
    await reading.close();
    await link.close();
    await elections.close();
  }
};

const alone = async (elections: Elections, work: () => Promise<Restored>): Promise<Restored> => {
  const restored = await ifElected(elections, RESTORE, 0, work);
  if (restored === undefined) throw new RestoreRefusedError('Another restore is running on this database.');
  return restored;
};

const logReader =
  ({ link, options }: Place, ledger: string): ReadLog =>
  async (partitions, onMessages) => {
    await readTopic({ link, ledger, partitions, onMessages, signal: options.signal });
  };

const fromKafka = async (place: Place): Promise<Restored> => {
  const { config, options, identity, reading, link, partitions } = place;
  const count = await link.partitionCount();
  if (count !== identity.partitions)
    throw new RestoreRefusedError(
      `The topic has ${count.toString()} partitions, and the ledger has ${identity.partitions.toString()}: it is another ledger's, or its number of partitions was changed. Nothing was written.`,
    );
  const heads = await reading.reader.heads();
  const ledger = await ledgerToRestore(place, heads);
  const adopted = ledger !== identity.ledger;
  const admin = postgresOptions(config, config.postgres.adminUrl ?? config.postgres.url);
  const starts = await startsOf(place, ledger, heads);
  const restoring = await openRestoring(postgresOptions(config), ledger);
  // Only once the log was checked: a log that is refused changes nothing.
  let claimed = !adopted;
  const claim = async (): Promise<void> => {
    if (!claimed) await adoptLedger(admin, ledger);
    claimed = true;
  };
  try {
    const restored = await restoreFromKafka({
      ledger,
      starts,
      readLog: logReader(place, ledger),
      reader: reading.reader,
      decode: compileDecodeBody(),
      restoring: { ...restoring, write: async (events) => claim().then(() => restoring.write(events)) },
      dryRun: options.dryRun,
      signal: options.signal,
      onProgress: options.onProgress,
    });
    const whole = partitions.length === identity.partitions;
    if (!options.dryRun) await concludeRestore(admin, restored.incarnation, whole ? restored.pending : []);
    return { ledger, adopted, partitions: restored.partitions };
  } finally {
    await restoring.close();
  }
};

/** Which ledger the topic is to give. Raises RestoreRefusedError when it is another one than the database has events of. */
const ledgerToRestore = async ({ identity, link, options }: Place, heads: readonly Head[]): Promise<string> => {
  const found = await ledgersOn(link, allPartitions(identity.partitions));
  if (found.includes(identity.ledger) || found.length === 0) return identity.ledger;
  if (heads.some(({ position }) => position > 0))
    throw new RestoreRefusedError(
      `The topic holds the ledger ${found.join(', ')}, and the database has events of ${identity.ledger}. Nothing was written. Name the right topic or database.`,
    );
  const [only] = options.ledger === undefined ? found : found.filter((one) => one === options.ledger);
  if (only === undefined || (found.length > 1 && options.ledger === undefined))
    throw new RestoreRefusedError(`The topic holds the ledgers ${found.join(', ')}: say which one by --ledger.`);
  return only;
};

const startsOf = async (
  { reading, identity, partitions }: Place,
  ledger: string,
  heads: readonly Head[],
): Promise<readonly WalkStart[]> => {
  const starts: WalkStart[] = [];
  for (const head of heads) {
    if (!partitions.includes(head.partition)) continue;
    if (ledger !== identity.ledger || head.position === 0) starts.push(beginning(ledger, head.partition));
    else {
      const [last] = await reading.reader.readSealed(head.partition, head.position - 1, 1);
      starts.push({ ...head, incarnation: last?.event.incarnation ?? 0 });
    }
  }
  return starts;
};

const toKafka = async (place: Place): Promise<Restored> => {
  const { config, options, identity, reading, link, partitions } = place;
  const { ledger } = identity;
  const wish = { partitions: identity.partitions, replicationFactor: config.kafka.replicationFactor };
  await ensureTopic(kafkaSettings(config), wish, options.logger);
  let [done, total] = [0, 0];
  const sender = new LogSender({
    link,
    log: options.logger,
    ledger,
    reader: reading.reader,
    signal: options.signal,
    onSent: (events) => options.onProgress('sending', (done += events), total),
  });
  const restored = await restoreToKafka({
    ledger,
    partitions,
    readLog: logReader(place, ledger),
    ends: (some) => link.offsets(some, 'latest'),
    reader: reading.reader,
    send: (wishes) => sender.send(wishes),
    dryRun: options.dryRun,
    onMissing: (events) => (total = events),
  });
  return { ledger, adopted: false, partitions: restored };
};
