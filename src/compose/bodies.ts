import type { Logger } from 'pino';
import { HeldRatios } from '../metrics/index.js';
import type { LedgerMetrics } from '../metrics/index.js';
import type { Config, Role } from '../config/settings.js';
import type { ExpiredReader, Journal, JournalReader, TotalsReader } from '../core/ports.js';
import type { Orphans, Readiness } from '../core/ports.js';
import type { BalancesProjection } from '../../projections/balances.js';
import type { PartState } from '../http/index.js';
import { HealingPass } from '../recovery/healing.js';
import type { CompareParts } from '../recovery/compare-balances.js';
import type { PopulationParts } from '../recovery/compare-population.js';
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
  readonly reader: JournalReader & ExpiredReader & TotalsReader;
  readonly readiness: Readiness;
  readonly orphans: Orphans;
  readonly projection: BalancesProjection;
  readonly compare: CompareParts & Pick<PopulationParts, 'snapshots'>;
  /** False: another process is at it already. */
  readonly rebuild: (partition: number, why: string) => Promise<boolean>;
  readonly metrics: LedgerMetrics;
  readonly logger: Logger;
}

/** The bodies that keep the ledger true beside its traffic, as far as this process's roles say. */
export interface Bodies {
  /** What the last look at Redis found; undefined before the first, or when this process does not look. */
  readonly redis: () => ReadinessReport | undefined;
  /** How each body that runs here is, in words. */
  readonly states: () => readonly PartState[];
  /** Looks at Redis's readiness soon: something just found it wanting. */
  readonly lookAtRedis: () => void;
  readonly stop: () => Promise<void>;
}

/** A body that runs, and how it is. */
export interface Body extends Periodic {
  readonly state: () => PartState;
}

/**
 * Starts a body. One that fails says so once, and again only when the words change or it had recovered: a service that is away for an
 * hour is one line.
 */
export const startBody = (
  logger: Logger,
  name: string,
  pauseMs: number,
  body: (signal: AbortSignal) => Promise<void>,
): Body => {
  let failure: string | undefined;
  let state = 'has not run yet';
  const onError = (error: unknown): void => {
    const words = error instanceof Error ? error.message : String(error);
    if (words !== failure) logger.warn({ body: name, err: words }, `${name} could not do its work; it tries again`);
    failure = words;
    state = `could not do its work (${words}); it tries again`;
  };
  const running = runPeriodically(
    async (signal) => {
      await body(signal);
      if (failure !== undefined) logger.info({ body: name }, `${name} works again`);
      failure = undefined;
      state = 'works';
    },
    { pauseMs, onError },
  );
  return { ...running, state: () => ({ name, ok: failure === undefined, state }) };
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

/** Starts the bodies of `roles`; `others` run already, and are told of and stopped with them. */
export const startBodies = (parts: BodyParts, roles: readonly Role[], others: readonly Body[] = []): Bodies => {
  const { config, logger } = parts;
  const running: Body[] = [...others];
  let redis: ReadinessReport | undefined;
  let keeper: Body | undefined;
  if (roles.includes('sweeper')) {
    running.push(startBody(logger, 'expiry sweeper', config.service.sweepMs, expiryBody(parts)));
    running.push(startBody(logger, 'orphan sweeper', config.service.sweepMs, orphanBody(parts)));
  }
  if (roles.includes('projector')) {
    const look = keeperBody(parts);
    keeper = startBody(logger, 'readiness keeper', config.service.healMs, async (signal) => {
      redis = await look(signal);
    });
    running.push(keeper);
  }
  if (roles.includes('healer'))
    running.push(startBody(logger, 'healing pass', config.service.healMs * HEALING_PAUSES, healingBody(parts)));
  return {
    redis: () => redis,
    states: () => running.map((body) => body.state()),
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

const keeperBody = (parts: BodyParts) => {
  const { logger, metrics } = parts;
  const lastSeen: LastSeen = new Map();
  const lags = new LagClock();
  const keeping = { ...parts, catchUp: (partition: number) => parts.projection.catchUp(partition) };
  return async (signal: AbortSignal): Promise<ReadinessReport> => {
    const report = await keepReady(keeping, lastSeen, signal);
    const { rebuilt, ready } = report;
    if (rebuilt > 0) logger.info({ body: 'readiness keeper', rebuilt, ready }, 'partitions of Redis were rebuilt');
    for (const [partition, positions] of report.lags) {
      const seconds = lags.seconds(partition, lastSeen.get(partition) ?? 0, positions);
      metrics.projectionLag('balances', partition, positions, seconds);
    }
    return report;
  };
};

const healingBody = (parts: BodyParts) => {
  const { config, reader, readiness, metrics, logger } = parts;
  const ratios = new HeldRatios();
  const pass = new HealingPass({
    ...parts.compare,
    readiness,
    partitions: parts.partitions,
    sampleSize: config.service.auditSampleSize,
    rebuild: parts.rebuild,
    reconcileMaxCosts: async (partition) => {
      await readiness.putMaxCosts(partition, await reader.maxCosts());
    },
    onPartition: async (partition) => {
      for (const [unit, ratio] of ratios.take(partition, await reader.totals(partition)))
        metrics.heldRatio(unit, ratio);
    },
    onDrift: (drift) =>
      logger.error(
        { body: 'healing pass', partition: drift.partition, account: drift.account },
        `A balance was wrong: ${describeDrift(drift)}`,
      ),
    onLacking: (partition, what) =>
      logger.error({ body: 'healing pass', partition }, `A partition of Redis was not whole: ${what}`),
  });
  return async (): Promise<void> => {
    const { compared, drifted } = await pass.next();
    if (compared + drifted > 0) metrics.driftFound(drifted);
  };
};
