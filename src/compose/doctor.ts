import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/settings.js';
import type { Away, DoctorFacts, PostgresFacts, RedisFacts, TopicFacts } from '../core/doctor-facts.js';
import type { Checkpoint } from '../core/ports.js';
import { PROGRAM_VERSION } from '../journal/index.js';
import { inspectHashes, inspectPostgres } from '../journal/inspect.js';
import { inspectTopic } from '../kafka/inspect.js';
import { createLogger } from '../logging.js';
import { diagnose } from '../recovery/doctor.js';
import type { DoctorFinding } from '../recovery/doctor-findings.js';
import { inspectRedis } from '../redis/inspect.js';
import { kafkaSettings, postgresOptions, redisSettings } from './options.js';

/** What the doctor says. */
export interface DoctorReport {
  /** False: Postgres could not be asked, so that little can be said. */
  readonly journal: boolean;
  readonly findings: readonly DoctorFinding[];
}

/** How long Kafka and Redis have to get what the journal had, ms. */
const CATCH_UP_MS = 5_000;
const PAUSE_MS = 250;

const orAway = async <T>(ask: () => Promise<T>): Promise<T | Away> => {
  try {
    return await ask();
  } catch (error) {
    const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
    return { away: first instanceof Error && first.message !== '' ? first.message : String(first) };
  }
};

interface Copies {
  readonly topic: TopicFacts | Away;
  readonly redis: RedisFacts | Away;
}

/** Where the copies of the log stand, as far as they could be asked. */
const checkpointsOf = ({ topic, redis }: Copies): { kafka: readonly Checkpoint[]; redis: readonly Checkpoint[] } => ({
  kafka: 'away' in topic ? [] : topic.tails,
  redis: 'away' in redis ? [] : redis.partitions.flatMap(({ checkpoint }) => checkpoint ?? []),
});

const caughtUp = (copies: Copies, { heads }: PostgresFacts): boolean => {
  const { kafka, redis } = checkpointsOf(copies);
  return [kafka, redis].every((checkpoints) => {
    const known = new Map(checkpoints.map(({ partition, position }) => [partition, position]));
    return checkpoints.length === 0 || heads.every((head) => (known.get(head.partition) ?? 0) >= head.position);
  });
};

/**
 * Looks at all three services, changes nothing, and says what is wrong and what mends it. Any of them may be away: that is a finding.
 * A copy that is behind is given a few seconds to get on. Raises ConfigError, RedisSettingError for settings that can't be read.
 */
export const examine = async (config: Config): Promise<DoctorReport> => {
  const postgres = postgresOptions(config);
  const log = createLogger({ level: 'silent' });
  const before = await orAway(() => inspectPostgres(postgres));
  const ledger = 'away' in before ? undefined : before.ledger;
  const partitions = ledger?.partitions ?? config.ledger.partitions;
  const look = async (): Promise<Copies> => {
    const [topic, redis] = await Promise.all([
      orAway(() => inspectTopic(kafkaSettings(config), log, ledger)),
      // Without the ledger's id its keys can't be named: then only the servers are looked at.
      orAway(() => inspectRedis(redisSettings(config, ledger?.ledger ?? ''), partitions)),
    ]);
    return { topic, redis };
  };
  const untilMs = performance.now() + CATCH_UP_MS;
  let copies = await look();
  while (!('away' in before) && !caughtUp(copies, before) && performance.now() < untilMs) {
    await sleep(PAUSE_MS);
    copies = await look();
  }
  const places = Object.values(checkpointsOf(copies)).flat();
  const hashes = ledger === undefined ? new Map<string, string>() : await orAway(() => inspectHashes(postgres, places));
  const after = 'away' in before ? before : await orAway(() => inspectPostgres(postgres));
  const facts: DoctorFacts = {
    program: PROGRAM_VERSION,
    wanted: config.ledger,
    before,
    ...copies,
    after: 'away' in hashes ? hashes : after,
    hashes: 'away' in hashes ? new Map() : hashes,
  };
  return { journal: !('away' in facts.after), findings: diagnose(facts) };
};
