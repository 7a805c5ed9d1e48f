import type { Logger } from 'pino';
import type { StoredEvent } from '../../events/index.js';
import { BalancesProjection } from '../../projections/balances.js';
import type { Config, Role } from '../config/settings.js';
import { ifElected } from '../core/election.js';
import { UnavailableError } from '../core/ports.js';
import type { CurrentIncarnation } from '../core/incarnation.js';
import type { Elections, Holds, KeyStore, OnCommitted } from '../core/ports.js';
import { PostgresJournal } from '../journal/index.js';
import type { Fence, JournalReading, LedgerRecord } from '../journal/index.js';
import { faultsOf } from '../logging.js';
import { observeLedger } from '../metrics/index.js';
import type { LedgerMetrics, Metrics } from '../metrics/index.js';
import { rebuildPartition } from '../recovery/rebuild.js';
import type { RebuildReport } from '../recovery/rebuild.js';
import type { RedisSide } from '../redis/index.js';
import { runPeriodically } from '../service/periodic.js';
import type { Periodic } from '../service/periodic.js';
import { LedgerService } from '../service/ledger-service.js';
import type { Ledger } from '../service/ledger.js';
import { startBodies } from './bodies.js';
import { startCheckpointer } from './checkpoints.js';
import type { Bodies, BodyParts } from './bodies.js';
import { closeGround, openGround } from './ground.js';
import type { Ground } from './ground.js';
import { openKafka } from './kafka.js';
import type { KafkaSide } from './kafka.js';
import { spreadMaxCosts } from './max-costs.js';
import { resumeWith } from './resume.js';
import type { ResumeWish, ResumedLedger } from './resume.js';
import { verifyWith } from './verify.js';
import type { VerifyParts, VerifyReport } from '../recovery/verify.js';
import { commandDefaults, postgresOptions } from './options.js';

export interface OpenOptions {
  readonly logger: Logger;
  /** Which bodies run beside the commands; none for a command of the command line. */
  readonly roles: readonly Role[];
}

/** A ledger with everything around it, joined. */
export interface Holdfast {
  readonly identity: LedgerRecord;
  readonly ledger: Ledger;
  readonly keys: KeyStore;
  readonly metrics: Metrics;
  readonly reading: JournalReading;
  readonly redis: RedisSide;
  readonly kafka: KafkaSide;
  readonly bodies: Bodies;
  /** Why nothing is written; undefined while the journal is open. */
  readonly fenced: () => string | undefined;
  readonly config: Config;
  readonly elections: Elections;
  readonly readEvents: (partition: number, after: number, limit: number) => Promise<StoredEvent[]>;
  /** Every event of every partition, a partition after the other. */
  readonly history: () => AsyncIterable<StoredEvent>;
  readonly rebuild: (partition: number, options?: { readonly replay?: boolean }) => Promise<RebuildReport>;
  /** Compares Postgres, Kafka and Redis beside live traffic. Raises UnavailableError or KafkaError. */
  readonly verify: (onProgress: VerifyParts['onProgress']) => Promise<VerifyReport>;
  /** Opens a fenced journal again, by an operator's word. Raises ResumeRefusedError. */
  readonly resume: (wish: ResumeWish) => Promise<ResumedLedger>;
  /** Answers what is under way, then lets go of everything. */
  close(): Promise<void>;
}

/**
 * Opens the ledger that the configuration names. Redis and Kafka may be away; Postgres must be there.
 * Raises ConfigError, LedgerMismatchError (a database that this program may not use), RedisSettingError (a Redis that
 * evicts), TopicRefusedError (a topic that loses events), and UnavailableError or SessionLostError when Postgres is away.
 */
export const openHoldfast = async (config: Config, { logger, roles }: OpenOptions): Promise<Holdfast> => {
  const ground = await openGround(config, logger);
  try {
    return await openUpon(ground, roles);
  } catch (error) {
    await closeGround(ground);
    throw error;
  }
};

const openUpon = async (ground: Ground, roles: readonly Role[]): Promise<Holdfast> => {
  const { config, identity, reading, redis, logger, metrics, incarnation, fence } = ground;
  const projection = openProjection(incarnation, reading, redis, logger, () => bodies.lookAtRedis());
  const kafka = await openKafka({ ...ground, metrics: metrics.ledger, projection, roles });
  const journal = openJournal(ground, (partition, events) => {
    projection.offer(partition, events);
    kafka.committed(partition, events);
    void spreadMaxCosts(redis.readiness, identity.partitions, partition, events);
  });
  // At once, so that a server that must not write says so before the first command.
  if (roles.includes('api')) await journal.connect();
  const rebuild = rebuilder(config, reading, redis);
  const watch = roles.length > 0 ? watchIncarnation(ground) : undefined;
  const checkpointer = startCheckpointer(ground, roles);
  const bodies = startBodies(bodyParts(ground, { journal, projection, rebuild }), roles, checkpointer);
  const service = new LedgerService({
    identity,
    holds: counted(whileOpen(redis.holds, fence), metrics.ledger),
    journal,
    reader: readerOf(reading),
    confirmer: kafka.confirmer,
    balances: {
      visible: (partition, position) => projection.visible(partition, position),
      require: (partition, position) => redis.requireApplied(partition, incarnation.value, position),
    },
    defaults: commandDefaults(config),
  });
  return {
    ...ground,
    ledger: observeLedger(service, metrics.ledger),
    keys: reading.keys,
    kafka,
    bodies,
    fenced: () => fence.why,
    readEvents: (partition, after, limit) => reading.reader.read(partition, after, limit),
    history: () => history(reading, identity.partitions),
    rebuild: whenElected(ground.elections, rebuild),
    verify: (onProgress) => verifyWith(ground, onProgress),
    resume: (wish) => resumeWith(ground, wish),
    close: async () => {
      await bodies.stop();
      await watch?.stop();
      await journal.close();
      await projection.stop();
      await kafka.stop();
      await closeGround(ground);
    },
  };
};

const INCARNATION_WATCH_MS = 5_000;

/** A resume is noticed by processes that never write, too. What keeps it from being read is said by others. */
const watchIncarnation = ({ reading, incarnation }: Ground): Periodic =>
  runPeriodically(async () => incarnation.noted(await reading.reader.incarnation()), {
    pauseMs: INCARNATION_WATCH_MS,
    onError: () => undefined,
  });

/**
 * Holds that go past Redis until the fence has let a connection through, and while it refuses: what Redis knows may be of a log that
 * the journal does not have, and then it must grant, replay and refuse nothing.
 */
const whileOpen = (holds: Holds, fence: Fence): Holds => ({
  hold: (partition, command) =>
    fence.open ? holds.hold(partition, command) : Promise.resolve({ kind: 'ask_journal', why: 'journal_not_compared' }),
  release: (partition, tenant, id, attempt) => holds.release(partition, tenant, id, attempt),
  settle: (partition, tenant, id, position) => holds.settle(partition, tenant, id, position),
});

/** Holds whose outcomes are counted. */
const counted = (holds: Holds, metrics: LedgerMetrics): Holds => ({
  hold: async (partition, command) => {
    const outcome = await holds.hold(partition, command);
    metrics.held(outcome.kind);
    return outcome;
  },
  release: (partition, tenant, id, attempt) => holds.release(partition, tenant, id, attempt),
  settle: (partition, tenant, id, position) => holds.settle(partition, tenant, id, position),
});

interface Moving {
  readonly journal: PostgresJournal;
  readonly projection: BalancesProjection;
  readonly rebuild: Holdfast['rebuild'];
}

const bodyParts = (ground: Ground, { journal, projection, rebuild }: Moving): BodyParts => {
  const { config, identity, reading, redis, elections, metrics, logger, fence } = ground;
  return {
    config,
    partitions: identity.partitions,
    journal,
    reader: reading.reader,
    readiness: redis.readiness,
    orphans: redis.orphans,
    projection,
    compare: { balances: redis.reader, snapshots: reading.snapshots },
    rebuild: async (partition, why) => {
      // What Redis has seen is evidence until an operator has looked.
      if (fence.why !== undefined) return false;
      const report = await ifElected(elections, REBUILD, partition, () => rebuild(partition));
      if (report === undefined) return false;
      const found = { partition, why, accounts: report.accounts, open: report.openReservations };
      logger.debug({ body: 'rebuild', ...found }, 'a partition of Redis was rebuilt');
      return true;
    },
    metrics: metrics.ledger,
    logger,
  };
};

const openProjection = (
  incarnation: CurrentIncarnation,
  reading: JournalReading,
  redis: RedisSide,
  logger: Logger,
  onStuck: () => void,
): BalancesProjection =>
  new BalancesProjection({
    store: redis.balances,
    reader: reading.reader,
    incarnation: () => incarnation.value,
    onStuck: (partition, why) => {
      logger.debug({ part: 'balances', partition, why }, 'a partition of Redis can not be applied to');
      onStuck();
    },
    onError: (partition, error) =>
      logger.warn({ part: 'balances', partition, err: error }, 'events could not be applied to Redis'),
  });

const openJournal = ({ config, identity, logger, metrics, fence }: Ground, onCommitted: OnCommitted): PostgresJournal =>
  new PostgresJournal({
    postgres: postgresOptions(config),
    identity,
    settings: { raiseFactor: BigInt(config.reservations.raiseFactor) },
    lanes: config.postgres.lanes,
    groupMax: config.postgres.groupMax,
    queueMax: config.postgres.queueMax,
    outcomeTimeoutMs: config.postgres.outcomeTimeoutMs,
    fence,
    onCommitted,
    onGroup: ({ events, durationMs }) => metrics.ledger.appended(events, durationMs / 1000),
    onFault: faultsOf(logger, 'journal', 'error'),
  });

const rebuilder =
  (config: Config, reading: JournalReading, redis: RedisSide): Holdfast['rebuild'] =>
  (partition, { replay = false } = {}) =>
    rebuildPartition(
      {
        target: redis.rebuild,
        snapshots: reading.snapshots,
        closedWithinMs: config.redis.closedIdsSeconds * 1000,
        replay,
      },
      partition,
    );

/** The office of whoever makes a partition of Redis anew. */
const REBUILD = 'rebuild';
const ELECTION_TRIES = 150;
const ELECTION_PAUSE_MS = 200;

/** An operator's rebuild waits for its turn: a server's keeper beside it would take the partition over half-way. Raises UnavailableError. */
const whenElected =
  (elections: Elections, rebuild: Holdfast['rebuild']): Holdfast['rebuild'] =>
  async (partition, options) => {
    for (let tries = 0; tries < ELECTION_TRIES; tries += 1) {
      const report = await ifElected(elections, REBUILD, partition, () => rebuild(partition, options));
      if (report !== undefined) return report;
      await new Promise((resolve) => setTimeout(resolve, ELECTION_PAUSE_MS));
    }
    throw new UnavailableError(
      'journal_unavailable',
      `Another process is rebuilding partition ${partition.toString()}, or Postgres is away.`,
    );
  };

const HISTORY_PAGE = 500;

const history = async function* ({ reader }: JournalReading, partitions: number): AsyncGenerator<StoredEvent> {
  for (let partition = 0; partition < partitions; partition += 1)
    for (let after = 0; ;) {
      const page = await reader.read(partition, after, HISTORY_PAGE);
      yield* page;
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.event.position;
    }
};

/** The journal as the service asks it: the log and the accounts' past. */
const readerOf = ({ reader, trail }: JournalReading) => ({
  heads: reader.heads.bind(reader),
  read: reader.read.bind(reader),
  account: reader.account.bind(reader),
  reservation: reader.reservation.bind(reader),
  funding: reader.funding.bind(reader),
  maxCosts: reader.maxCosts.bind(reader),
  trail: trail.trail.bind(trail),
  accountAt: trail.accountAt.bind(trail),
  reservationHistory: trail.reservationHistory.bind(trail),
});
