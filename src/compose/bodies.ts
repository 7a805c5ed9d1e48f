import type { Logger } from 'pino';
import type { LedgerMetrics } from '../metrics/index.js';
import type { Config, Role } from '../config/settings.js';
import type { ExpiredReader, Journal, JournalReader } from '../core/ports.js';
import type { Orphans, Readiness } from '../core/ports.js';
import type { BalancesProjection } from '../../projections/balances.js';
import { HealingPass } from '../recovery/healing.js';
import type { CompareParts } from '../recovery/compare-balances.js';
import { describeDrift } from '../recovery/verify-balances.js';
import { keepReady } from '../recovery/readiness-keeper.js';
import type { LastSeen, ReadinessReport } from '../recovery/readiness-keeper.js';
import { sweepExpired } from '../service/expiry-sweeper.js';
import { sweepOrphans } from '../service/orphan-sweeper.js';
import { runPeriodically } from '../service/periodic.js';
import type { Periodic } from '../service/periodic.js';

export interface BodyParts {
  readonly config: Config;
  readonly partitions: number;
  readonly journal: Journal;
  readonly reader: JournalReader & ExpiredReader;
  readonly readiness: Readiness;
  readonly orphans: Orphans;
  readonly projection: BalancesProjection;
  readonly compare: CompareParts;
  /** False: another process is at it already. */
  readonly rebuild: (partition: number, why: string) => Promise<boolean>;
  readonly metrics: LedgerMetrics;
  readonly logger: Logger;
}

/** The bodies that keep the ledger true beside its traffic, as far as this process's roles say. */
export interface Bodies {
  /** What the last look at Redis found; undefined before the first, or when this process does not look. */
  readonly redis: () => ReadinessReport | undefined;
  /** Looks at Redis's readiness soon: something just found it wanting. */
  readonly lookAtRedis: () => void;
  readonly stop: () => Promise<void>;
}

/** A body that fails says so once, and again only when the words change or it had recovered: a service that is away for an hour is one line. */
const onceEach = (logger: Logger, name: string): { failed: (error: unknown) => void; fine: () => void } => {
  let last: string | undefined;
  return {
    failed: (error) => {
      const words = error instanceof Error ? error.message : String(error);
      if (words !== last) logger.warn({ body: name, err: words }, `${name} could not do its work; it tries again`);
      last = words;
    },
    fine: () => {
      if (last !== undefined) logger.info({ body: name }, `${name} works again`);
      last = undefined;
    },
  };
};

const start = (
  logger: Logger,
  name: string,
  pauseMs: number,
  body: (signal: AbortSignal) => Promise<void>,
): Periodic => {
  const said = onceEach(logger, name);
  const onError = said.failed;
  return runPeriodically(
    async (signal) => {
      await body(signal);
      said.fine();
    },
    { pauseMs, onError },
  );
};

/** The healing pass looks less often than the readiness keeper: each look costs a script and a snapshot. */
const HEALING_PAUSES = 4;

/** How long each partition has been behind, in seconds: since it last had everything that was there when the clock started. */
class LagClock {
  private readonly started = new Map<number, { readonly sinceMs: number; readonly head: number }>();

  seconds(partition: number, checkpoint: number, positions: number): number {
    const nowMs = performance.now();
    const before = this.started.get(partition);
    if (positions === 0) this.started.delete(partition);
    else if (before === undefined || checkpoint >= before.head)
      this.started.set(partition, { sinceMs: nowMs, head: checkpoint + positions });
    const running = this.started.get(partition);
    return running === undefined ? 0 : (nowMs - running.sinceMs) / 1000;
  }
}

/** Starts the bodies of `roles`. */
export const startBodies = (parts: BodyParts, roles: readonly Role[]): Bodies => {
  const { config, logger, metrics } = parts;
  const running: Periodic[] = [];
  let redis: ReadinessReport | undefined;
  let keeper: Periodic | undefined;
  if (roles.includes('sweeper')) {
    running.push(start(logger, 'expiry sweeper', config.service.sweepMs, expiryBody(parts)));
    running.push(start(logger, 'orphan sweeper', config.service.sweepMs, orphanBody(parts)));
  }
  if (roles.includes('projector')) {
    const lastSeen: LastSeen = new Map();
    const lags = new LagClock();
    const keeping = { ...parts, catchUp: (partition: number) => parts.projection.catchUp(partition) };
    keeper = start(logger, 'readiness keeper', config.service.healMs, async (signal) => {
      redis = await keepReady(keeping, lastSeen, signal);
      for (const [partition, positions] of redis.lags)
        metrics.projectionLag(
          'balances',
          partition,
          positions,
          lags.seconds(partition, lastSeen.get(partition) ?? 0, positions),
        );
    });
    running.push(keeper);
  }
  if (roles.includes('healer')) {
    const pass = new HealingPass({
      ...parts.compare,
      partitions: parts.partitions,
      sampleSize: config.service.auditSampleSize,
      rebuild: parts.rebuild,
      reconcileMaxCosts: async (partition) => {
        await parts.readiness.putMaxCosts(partition, await parts.reader.maxCosts());
      },
      onDrift: (drift) =>
        logger.error(
          { body: 'healing pass', partition: drift.partition, account: drift.account },
          `A balance was wrong: ${describeDrift(drift)}`,
        ),
    });
    running.push(
      start(logger, 'healing pass', config.service.healMs * HEALING_PAUSES, async () => {
        const { compared, drifted } = await pass.next();
        if (compared > 0) metrics.driftFound(drifted);
      }),
    );
  }
  return {
    redis: () => redis,
    lookAtRedis: () => keeper?.wake(),
    stop: async () => {
      await Promise.all(running.map((body) => body.stop()));
    },
  };
};

const expiryBody = (parts: BodyParts) => async (signal: AbortSignal) => {
  const { reader, journal, partitions, metrics, logger } = parts;
  const onExpired = (count: number): void => {
    logger.info({ body: 'expiry sweeper', count }, 'reservations expired and were given back');
    metrics.refunded('expired', count);
  };
  await sweepExpired({ expired: reader, journal, partitions, onExpired }, signal);
};

const orphanBody = (parts: BodyParts) => async (signal: AbortSignal) => {
  const { found, given } = await sweepOrphans(parts.orphans, parts.partitions, signal);
  parts.metrics.orphanedHolds(found);
  if (given === 0) return;
  parts.metrics.orphansGivenBack(given);
  parts.logger.info({ body: 'orphan sweeper', count: given }, 'holds that nobody answered for were given back');
};
