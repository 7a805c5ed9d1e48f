/** The services that Holdfast stands on, and how a stack describes each one that runs. */

import { StackError } from './errors.js';

export const SERVICE_NAMES = ['postgres', 'redis', 'kafka'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

/** Where a service comes from, in the order in which sources are tried. */
export const SOURCE_KINDS = ['environment', 'docker', 'path', 'package'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** The variable that says which sources may be used, joined by commas: "path,package" does without Docker. */
export const SOURCES_VARIABLE = 'HOLDFAST_STACK_SOURCES';

/** The sources that the environment allows; all when it does not say. @throws StackError naming a word it doesn't know. */
export function allowedSources(env: NodeJS.ProcessEnv): readonly SourceKind[] {
  const text = env[SOURCES_VARIABLE];
  if (text === undefined || text.trim() === '') return SOURCE_KINDS;
  return text.split(',').map((word) => {
    const kind = SOURCE_KINDS.find((known) => known === word.trim());
    if (kind !== undefined) return kind;
    const sentence = `${SOURCES_VARIABLE} says "${word.trim()}", which is none of ${SOURCE_KINDS.join(', ')}`;
    throw new StackError('service_unavailable', `${sentence}; mend it with: unset ${SOURCES_VARIABLE}`);
  });
}

export const SERVICE_TITLES: Readonly<Record<ServiceName, string>> = {
  postgres: 'PostgreSQL',
  redis: 'Redis',
  kafka: 'Kafka',
};

/** The signal that makes each stop at once but in order. */
export const STOP_SIGNALS: Readonly<Record<ServiceName, NodeJS.Signals>> = {
  postgres: 'SIGINT',
  redis: 'SIGTERM',
  kafka: 'SIGTERM',
};

/** The variable that names an address, which always wins over anything that could be started here. */
export const ADDRESS_VARIABLES: Readonly<Record<ServiceName, string>> = {
  postgres: 'HOLDFAST_POSTGRES_URL',
  redis: 'HOLDFAST_REDIS_URL',
  kafka: 'HOLDFAST_KAFKA_BROKERS',
};

/**
 * A process, named so that it can't be mistaken for a later one with the same number: `startToken` is the
 * kernel's own record of when it started.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startToken: string;
}

/** What is known of one running service: plain data, as the state file keeps it. */
export interface ServiceRecord {
  readonly name: ServiceName;
  readonly source: SourceKind;
  /** In words: which version, from where. */
  readonly detail: string;
  /** What goes into the variable of `ADDRESS_VARIABLES`: a URL, or brokers joined by commas. May hold a password. */
  readonly address: string;
  /** Every TCP port that it listens on, the one in `address` first; the others are internal. */
  readonly ports: readonly number[];
  readonly process?: ProcessIdentity;
  readonly dataDir?: string;
  readonly logFile?: string;
  /** The Compose project that holds it, when Docker runs it. */
  readonly composeProject?: string;
  /** The process that will stop it, when it was not meant to stay behind. */
  readonly heldBy?: ProcessIdentity;
}

/** A service that this program started or joined, with the handles to end it. */
export interface StartedService {
  readonly record: ServiceRecord;
  /** Stops it gracefully; a no-op when it was joined, not started. Idempotent. */
  stop(): Promise<void>;
  /** Lets it live on after this program ends. */
  release(): void;
}
