import { readFileSync } from 'node:fs';
import { YAMLParseError, parse } from 'yaml';
import {
  OTHER_ENVIRONMENT_KEYS,
  OTHER_ENVIRONMENT_PREFIXES,
  SETTINGS,
  allSettings,
  environmentKey,
  fileKey,
} from './settings.js';
import type { Config } from './settings.js';

/** The configuration cannot be used. `problems` names each key and what is wrong with it; no secret stands in it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'config_invalid';
  constructor(readonly problems: readonly string[]) {
    super(`The configuration cannot be used: ${problems.join('; ')}.`);
  }
}

type Values = ReadonlyMap<string, { readonly raw: unknown; readonly from: string }>;

/** Settings that come by code, for `createLedger(config)`: sections as in SETTINGS, any part of them. */
export type ConfigInput = { readonly [S in keyof Config]?: Partial<Config[S]> };

/**
 * Reads the configuration from the environment and, if HOLDFAST_CONFIG names one, a YAML or JSON file; the environment wins.
 * Raises ConfigError for an unknown key, a bad value or a missing one, all of them at once.
 */
export const loadConfig = (environment: NodeJS.ProcessEnv = process.env): Config => {
  const problems: string[] = [];
  const values = new Map([
    ...fromFile(environment['HOLDFAST_CONFIG'], problems),
    ...fromEnvironment(environment, problems),
  ]);
  return build(values, problems);
};

/** Checks settings given by code, with the same rules. Raises ConfigError. */
export const configFrom = (input: ConfigInput): Config => {
  const values = new Map<string, { raw: unknown; from: string }>();
  const problems: string[] = [];
  const known = new Set(allSettings().map(({ section, key }) => `${section}.${key}`));
  for (const [section, keys] of Object.entries(input))
    for (const [key, raw] of Object.entries(keys)) {
      const name = `${section}.${key}`;
      if (!known.has(name)) problems.push(`${name} is not a setting`);
      else if (raw !== undefined) values.set(name, { raw, from: name });
    }
  return build(values, problems);
};

const fromEnvironment = (environment: NodeJS.ProcessEnv, problems: string[]): Values => {
  const values = new Map<string, { raw: unknown; from: string }>();
  const names = new Map(allSettings().map(({ section, key }) => [environmentKey(section, key), `${section}.${key}`]));
  for (const [variable, raw] of Object.entries(environment)) {
    if (!variable.startsWith('HOLDFAST_') || raw === undefined) continue;
    const name = names.get(variable);
    if (name !== undefined) values.set(name, { raw, from: variable });
    else if (
      !OTHER_ENVIRONMENT_KEYS.includes(variable) &&
      !OTHER_ENVIRONMENT_PREFIXES.some((prefix) => variable.startsWith(prefix))
    )
      problems.push(`${variable} is not a setting`);
  }
  return values;
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const whyUnread = (error: unknown): string => {
  const [at] = error instanceof YAMLParseError ? (error.linePos ?? []) : [];
  if (at !== undefined) return `is not YAML or JSON: see line ${at.line.toString()}`;
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  return `can't be read${code}`;
};

const fromFile = (path: string | undefined, problems: string[]): Values => {
  const values = new Map<string, { raw: unknown; from: string }>();
  if (path === undefined) return values;
  let content: unknown;
  try {
    // Warnings would print the line at fault, and so would an error's message: a secret may stand there.
    content = parse(readFileSync(path, 'utf8'), { logLevel: 'error' });
  } catch (error) {
    problems.push(`HOLDFAST_CONFIG: ${path} ${whyUnread(error)}`);
    return values;
  }
  const names = new Map(allSettings().map(({ section, key }) => [fileKey(section, key), `${section}.${key}`]));
  if (!isRecord(content)) problems.push(`HOLDFAST_CONFIG: ${path} holds no settings`);
  else
    for (const [section, keys] of Object.entries(content)) {
      if (!isRecord(keys) || !Object.hasOwn(SETTINGS, section))
        problems.push(`${section} (in ${path}) is not a section`);
      else
        for (const [key, raw] of Object.entries(keys)) {
          const name = names.get(`${section}.${key}`);
          if (name === undefined) problems.push(`${section}.${key} (in ${path}) is not a setting`);
          else values.set(name, { raw, from: `${section}.${key}` });
        }
    }
  return values;
};

const build = (values: Values, problems: string[]): Config => {
  const config: Record<string, Record<string, unknown>> = {};
  for (const { section, key, setting } of allSettings()) {
    const given = values.get(`${section}.${key}`);
    const into = (config[section] ??= {});
    if (given === undefined) {
      if (setting.required) problems.push(`${environmentKey(section, key)} is missing: ${setting.about}`);
      into[key] = setting.fallback;
      continue;
    }
    const read = setting.read(given.raw);
    if ('wrong' in read) problems.push(`${given.from} ${read.wrong}`);
    else into[key] = read.value;
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const checked = config as unknown as Config;
  const conflict = crossCheck(checked);
  if (conflict.length > 0) throw new ConfigError(conflict);
  return checked;
};

/** What no single setting shows. */
const crossCheck = ({ reservations, kafka, redis }: Config): string[] => {
  const problems: string[] = [];
  if (reservations.ttlSeconds > reservations.ttlMaxSeconds)
    problems.push('reservations.ttl_seconds is longer than reservations.ttl_max_seconds');
  if (kafka.saslMechanism !== 'none' && (kafka.saslUsername === undefined || kafka.saslPassword === undefined))
    problems.push('kafka.sasl_mechanism needs kafka.sasl_username and kafka.sasl_password');
  if ((kafka.certFile === undefined) !== (kafka.keyFile === undefined))
    problems.push('kafka.cert_file and kafka.key_file go together');
  if ((redis.certFile === undefined) !== (redis.keyFile === undefined))
    problems.push('redis.cert_file and redis.key_file go together');
  // Certificates that nobody looks at would let a connection in the clear pass for a safe one.
  if (!kafka.tls && (kafka.caFile !== undefined || kafka.certFile !== undefined))
    problems.push('kafka.ca_file and kafka.cert_file need kafka.tls');
  if (!redis.url.startsWith('rediss:') && (redis.caFile !== undefined || redis.certFile !== undefined))
    problems.push('redis.ca_file and redis.cert_file need redis.url to begin with rediss://');
  return problems;
};
