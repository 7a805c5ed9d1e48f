import { createRequire } from 'node:module';
import type { Logger } from 'pino';
import type { Config } from '../config/settings.js';
import { createHttpServer } from '../http/index.js';
import type { Build, PartState, ReadinessReport } from '../http/index.js';
import { scriptDigests } from '../redis/index.js';
import { mintFirstKey } from '../service/keys.js';
import type { MintedKey } from '../service/keys.js';
import { openHoldfast } from './open.js';
import type { Holdfast } from './open.js';
import { ifElected } from '../core/election.js';
import { inTime } from '../core/in-time.js';
import { allPartitions } from '../core/partition.js';

/** A server that runs. */
export interface RunningServer {
  readonly url: string;
  readonly holdfast: Holdfast;
  /** The text of the first key, at the ledger's first start only. It is kept nowhere. */
  readonly firstKey?: string;
  /** Answers what is under way, then stops every body and lets go of all connections. */
  stop(): Promise<void>;
}

const build = (): Build => {
  const { version } = createRequire(import.meta.url)('#package') as { version: string };
  const commit = process.env['SOURCE_COMMIT'];
  return commit === undefined ? { version } : { version, commit };
};

/**
 * Starts a server with the roles of its configuration. Without the role `api` it answers health, readiness and metrics only.
 * Raises what openHoldfast raises, and what listening raises.
 */
export const startServer = async (config: Config, logger: Logger): Promise<RunningServer> => {
  const holdfast = await openHoldfast(config, { logger, roles: config.service.roles });
  try {
    const app = createHttpServer({
      ledger: holdfast.ledger,
      keys: holdfast.keys,
      readiness: () => readinessOf(holdfast),
      metrics: holdfast.metrics,
      logger,
      build: build(),
      operationsOnly: !config.service.roles.includes('api'),
      limits: {
        maxInFlight: config.http.maxInFlight,
        stopGraceMs: config.http.stopGraceMs,
        ttlMaxSeconds: config.reservations.ttlMaxSeconds,
      },
    });
    const url = await app.listen({ host: config.http.host, port: config.http.port });
    const first = await firstKey(holdfast, config);
    return {
      url,
      holdfast,
      ...(first === undefined ? {} : { firstKey: first.text }),
      stop: async () => {
        await app.close();
        await holdfast.close();
      },
    };
  } catch (error) {
    await holdfast.close();
    throw error;
  }
};

/** Once in a ledger's life, and by one process: two that start together must not both make one. */
const firstKey = async ({ keys, elections }: Holdfast, config: Config): Promise<MintedKey | undefined> => {
  if (!config.service.roles.includes('api')) return undefined;
  const tried = await ifElected(elections, 'first key', 0, async () => ({ minted: await mintFirstKey(keys) }));
  return tried?.minted;
};

const READINESS_TIMEOUT_MS = 1000;
/** Without these nothing can be granted. */
const NEEDED: ReadonlySet<string> = new Set(['postgres', 'journal']);

const journalState = ({ fenced }: Holdfast): PartState => {
  const why = fenced();
  return why === undefined
    ? { name: 'journal', ok: true, state: 'open for writing' }
    : { name: 'journal', ok: false, state: `fenced, nothing is written: ${why}; see holdfast doctor, holdfast resume` };
};

const readinessOf = async (holdfast: Holdfast): Promise<ReadinessReport> => {
  const parts = [
    await postgresState(holdfast),
    journalState(holdfast),
    redisState(holdfast),
    ...holdfast.kafka.states(),
    ...holdfast.bodies.states(),
  ];
  return {
    ready: !holdfast.kafka.refused() && parts.every((part) => part.ok || !NEEDED.has(part.name)),
    schemaVersion: holdfast.identity.schemaVersion,
    scripts: scriptDigests(),
    parts,
  };
};

const postgresState = async ({ reading }: Holdfast): Promise<PartState> => {
  try {
    await inTime(reading.reader.heads([0]), READINESS_TIMEOUT_MS, 'no answer within a second');
    return { name: 'postgres', ok: true, state: 'answers' };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { name: 'postgres', ok: false, state: `does not answer (${why}); commands get 503` };
  }
};

const redisState = ({ redis, bodies, identity }: Holdfast): PartState => {
  const partitions = allPartitions(identity.partitions);
  const away = partitions.filter((partition) => !redis.isReachable(partition)).length;
  const report = bodies.redis();
  const ok = away === 0 && (report === undefined || report.ready === identity.partitions);
  if (away > 0)
    return {
      name: 'redis',
      ok,
      state: `${away.toString()} partitions can't be reached; their reserves go to the journal`,
    };
  if (report === undefined) return { name: 'redis', ok, state: 'reachable' };
  return {
    name: 'redis',
    ok,
    state:
      `${report.ready.toString()} of ${identity.partitions.toString()} partitions ready, ` +
      `${report.lag.toString()} events behind` +
      (ok ? '' : '; reserves of the others go to the journal'),
  };
};
