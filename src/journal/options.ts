import { readFileSync } from 'node:fs';
import type { ClientConfig } from 'pg';

/** How to reach Postgres. Secrets stand only in `url` and `key`; neither is ever put into an error or a log. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with libpq's `sslmode`, `sslrootcert`, `sslcert`, `sslkey` if need be. */
  readonly url: string;
  /** PEM of the authority that signed the server's certificate. Given one, TLS is spoken and the server's name checked. */
  readonly ca?: string;
  /** PEM of the client's certificate and private key. */
  readonly cert?: string;
  readonly key?: string;
  /** The name under which the program's connections show in pg_stat_activity. */
  readonly applicationName?: string;
  readonly connectTimeoutMs?: number;
  /** The longest that one statement may take on the server. */
  readonly statementTimeoutMs?: number;
  /** The longest wait for a lock. */
  readonly lockTimeoutMs?: number;
}

export const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;
export const DEFAULT_STATEMENT_TIMEOUT_MS = 10_000;
export const DEFAULT_LOCK_TIMEOUT_MS = 5_000;

const SSL_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'ssl'] as const;

interface Tls {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly checkServerIdentity?: () => undefined;
}

/** TLS as libpq reads the same URL: `require` encrypts, `verify-ca` checks the authority, `verify-full` the name too. */
const tlsOf = (parameters: URLSearchParams, options: PostgresOptions): Tls | false => {
  const fileOf = (name: string): string | undefined => {
    const path = parameters.get(name);
    return path === null ? undefined : readFileSync(path, 'utf8');
  };
  const ca = options.ca ?? fileOf('sslrootcert');
  const cert = options.cert ?? fileOf('sslcert');
  const key = options.key ?? fileOf('sslkey');
  const mode = parameters.get('sslmode') ?? (ca === undefined ? 'disable' : 'verify-full');
  const given = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
  switch (mode) {
    case 'disable':
      return false;
    case 'require':
      return { ...given, rejectUnauthorized: ca !== undefined, checkServerIdentity: () => undefined };
    case 'verify-ca':
      return { ...given, rejectUnauthorized: true, checkServerIdentity: () => undefined };
    case 'verify-full':
      return { ...given, rejectUnauthorized: true };
    default:
      throw new Error(
        `HOLDFAST_POSTGRES_URL: sslmode=${mode} does not say whether the connection is encrypted; use disable, require, verify-ca or verify-full.`,
      );
  }
};

/**
 * What node-postgres needs to connect.
 * Raises an Error, without the URL in it, when the URL can't be read or asks for a TLS mode that guards nothing.
 */
export const clientConfig = (options: PostgresOptions): ClientConfig => {
  let url: URL;
  try {
    url = new URL(options.url);
  } catch {
    throw new Error('HOLDFAST_POSTGRES_URL is not an address such as postgres://user:password@host:5432/database.');
  }
  const ssl = tlsOf(url.searchParams, options);
  for (const name of SSL_PARAMETERS) url.searchParams.delete(name);
  return {
    connectionString: url.href,
    ssl,
    application_name: options.applicationName ?? 'holdfast',
    connectionTimeoutMillis: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
};
