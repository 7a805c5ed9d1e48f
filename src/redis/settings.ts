import { readFileSync } from 'node:fs';
import type { RedisOptions } from 'ioredis';
import { RedisSettingError } from './errors.js';

export interface RedisSettings {
  /** `redis://[user:password@]host[:port][/db]` or `rediss://…`; several of a Cluster, separated by commas. */
  readonly url: string;
  /** Of one ledger: keys.ts makes it of the operator's prefix and the ledger's id. */
  readonly keyPrefix: string;
  /** PEM files, for `rediss://`. */
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** How long a hold may take before the reserve goes to the journal, ms. */
  readonly timeoutMs: number;
  /** How long the ids of closed reservations are remembered, ms. */
  readonly closedIdsMs: number;
  /** Most closed ids remembered in one partition; the oldest go first. */
  readonly closedIdsMax: number;
  /** Most commands under way to one master; a hold beyond goes to the journal. */
  readonly inFlightMax: number;
  /** Pause between two checks that servers, slots and epochs are still the same, ms. */
  readonly recheckMs: number;
}

export const DEFAULT_REDIS_SETTINGS: Omit<RedisSettings, 'url'> = {
  keyPrefix: 'hf',
  timeoutMs: 1000,
  closedIdsMs: 3_600_000,
  closedIdsMax: 1_000_000,
  inFlightMax: 10_000,
  recheckMs: 2000,
};

/** Where a Redis server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, as it stands in notices. */
export const addressText = ({ host, port }: Address): string => `${host}:${port.toString()}`;

/** Where to begin, and how to introduce oneself to every server. */
export interface Entry {
  readonly seeds: readonly [Address, ...Address[]];
  readonly options: RedisOptions;
}

const parseSeed = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'redis:' && url.protocol !== 'rediss:') || url.hostname === '')
    throw new RedisSettingError('redis.url', 'redis.url must be redis://host:port or rediss://host:port.');
  return url;
};

const readPem = (setting: string, path: string | undefined): string | undefined => {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new RedisSettingError(setting, `${setting} names ${path}, which can't be read.`);
  }
};

const tlsOptions = (url: URL, settings: RedisSettings): RedisOptions => {
  const ca = readPem('redis.caFile', settings.caFile);
  const cert = readPem('redis.certFile', settings.certFile);
  const key = readPem('redis.keyFile', settings.keyFile);
  if (url.protocol !== 'rediss:') {
    if (ca ?? cert ?? key)
      throw new RedisSettingError('redis.url', 'redis.caFile, certFile and keyFile need a redis.url of rediss://.');
    return {};
  }
  const pem = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  // A Cluster gives addresses, not names: the certificate is checked against the name that the operator wrote.
  const servername = /^[\d.]+$|:/.test(url.hostname) ? {} : { servername: url.hostname };
  return { tls: { ...pem, ...servername } };
};

const KEY_PREFIX = /^[A-Za-z0-9._:-]{1,64}$/;

/** Reads the address and the files that it needs. Raises RedisSettingError; the message holds no secret. */
export const entryOf = (settings: RedisSettings): Entry => {
  const [first, ...others] = settings.url.split(',').map((text) => parseSeed(text.trim()));
  if (first === undefined) throw new RedisSettingError('redis.url', 'redis.url names no server.');
  if (!KEY_PREFIX.test(settings.keyPrefix))
    throw new RedisSettingError('redis.keyPrefix', 'redis.keyPrefix must be 1 to 64 of A-Z a-z 0-9 . _ : -');
  const address = (url: URL): Address => ({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || '6379'),
  });
  const db = Number(first.pathname.slice(1) || '0');
  if (!Number.isInteger(db) || db < 0)
    throw new RedisSettingError('redis.url', 'redis.url ends with something else than the number of a database.');
  return {
    seeds: [address(first), ...others.map(address)],
    options: {
      ...(first.username === '' ? {} : { username: decodeURIComponent(first.username) }),
      ...(first.password === '' ? {} : { password: decodeURIComponent(first.password) }),
      db,
      ...tlsOptions(first, settings),
    },
  };
};
