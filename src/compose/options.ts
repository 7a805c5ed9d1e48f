import { readFileSync } from 'node:fs';
import { ConfigError } from '../config/load.js';
import type { Config } from '../config/settings.js';
import type { PostgresOptions } from '../journal/index.js';
import type { KafkaSettings } from '../kafka/index.js';
import { ledgerKeyPrefix } from '../redis/index.js';
import type { RedisSettings } from '../redis/index.js';
import type { CommandDefaults } from '../service/commands.js';

const given = <K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };

const fileText = (setting: string, path: string | undefined): string | undefined => {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError([`${setting} names ${path}, which can't be read`]);
  }
};

/** The configuration in the journal's words; `url` may be another login's. Raises ConfigError for a file that can't be read. */
export const postgresOptions = ({ postgres }: Config, url = postgres.url): PostgresOptions => ({
  url,
  ...given('ca', fileText('postgres.ca_file', postgres.caFile)),
  statementTimeoutMs: postgres.statementTimeoutMs,
});

/** The configuration in Redis's words, for the ledger of this id. */
export const redisSettings = (
  { redis }: Config,
  ledger: string,
): Pick<RedisSettings, 'url' | 'keyPrefix'> & Partial<RedisSettings> => ({
  url: redis.url,
  keyPrefix: ledgerKeyPrefix(redis.keyPrefix, ledger),
  ...given('caFile', redis.caFile),
  ...given('certFile', redis.certFile),
  ...given('keyFile', redis.keyFile),
  timeoutMs: redis.timeoutMs,
  closedIdsMs: redis.closedIdsSeconds * 1000,
  closedIdsMax: redis.closedIdsMax,
});

/** The configuration in Kafka's words. */
export const kafkaSettings = ({ kafka }: Config): KafkaSettings => ({
  brokers: kafka.brokers,
  topic: kafka.topic,
  clientId: kafka.clientId,
  tls: kafka.tls,
  caFile: kafka.caFile,
  certFile: kafka.certFile,
  keyFile: kafka.keyFile,
  saslMechanism: kafka.saslMechanism,
  saslUsername: kafka.saslUsername,
  saslPassword: kafka.saslPassword,
});

/** What a command leaves open, as configured. */
export const commandDefaults = ({ reservations }: Config): CommandDefaults => ({
  ttlSeconds: reservations.ttlSeconds,
  ttlMaxSeconds: reservations.ttlMaxSeconds,
  holdPolicy: reservations.holdPolicy,
  level: reservations.level,
});
