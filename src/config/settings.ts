import { HOLD_POLICIES } from '../../events/index.js';
import {
  flag,
  oneOf,
  optionalAddress,
  optionalText,
  requiredAddress,
  requiredAddresses,
  requiredHosts,
  someOf,
  text,
  textLike,
  whole,
} from './setting.js';
import type { Setting } from './setting.js';

/** What a `holdfast serve` process may do; all of it unless told otherwise. */
export const ROLES = ['api', 'relay', 'projector', 'sweeper', 'healer', 'checkpointer'] as const;
export type Role = (typeof ROLES)[number];

const POSTGRES = ['postgres:', 'postgresql:'] as const;
const SASL_MECHANISMS = ['none', 'plain', 'scram-sha-256', 'scram-sha-512'] as const;
const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/**
 * Every setting there is. A setting `a.bC` is read from the environment as HOLDFAST_A_B_C and from the file as `b_c` under `a`.
 * The environment wins over the file.
 */
export const SETTINGS = {
  ledger: {
    name: text('holdfast', 'name of the ledger, given to it when it is created'),
    partitions: whole(64, 1, 1024, 'ledger partitions; fixed when the ledger is created and checked at every start'),
  },
  postgres: {
    url: requiredAddress(POSTGRES, 'address of Postgres; sslmode and credentials stand in it'),
    adminUrl: optionalAddress(POSTGRES, 'address for `holdfast migrate`, if the migrations run under another login'),
    caFile: optionalText('PEM file of the authority that signed the server’s certificate'),
    lanes: whole(2, 1, 16, 'group commits under way at once; a partition belongs to one lane'),
    groupMax: whole(512, 1, 5000, 'most commands in one group commit'),
    queueMax: whole(10_000, 1, 1_000_000, 'most commands that wait for a group; beyond it the answer is 503'),
    poolMax: whole(10, 2, 200, 'most connections for reading'),
    statementTimeoutMs: whole(10_000, 100, 600_000, 'longest statement on the append path, ms'),
    outcomeTimeoutMs: whole(15_000, 100, 600_000, 'how long the outcome of a broken commit is looked for, ms'),
  },
  redis: {
    url: requiredAddresses(['redis:', 'rediss:'], 'address of Redis, or several of a Cluster'),
    keyPrefix: textLike(
      /^[A-Za-z0-9._:-]{1,48}$/,
      '1 to 48 of A-Z a-z 0-9 . _ : -',
      'hf',
      'what every key begins with; the ledger’s id follows, so one Redis can hold several ledgers',
    ),
    caFile: optionalText('PEM file of the authority that signed the server’s certificate'),
    certFile: optionalText('PEM file of the client’s certificate'),
    keyFile: optionalText('PEM file of the client’s private key'),
    timeoutMs: whole(1000, 10, 60_000, 'how long a hold may take before the reserve goes to the journal, ms'),
    closedIdsMax: whole(1_000_000, 0, 100_000_000, 'most closed ids that Redis remembers in one partition'),
    closedIdsSeconds: whole(3600, 0, 86_400, 'how long Redis remembers the ids of closed reservations, s'),
  },
  kafka: {
    brokers: requiredHosts('the brokers'),
    topic: textLike(
      /^[A-Za-z0-9._-]{1,249}$/,
      '1 to 249 of A-Z a-z 0-9 . _ -',
      'holdfast.events',
      'the topic of the log',
    ),
    clientId: text('holdfast', 'name under which this program is known to the brokers'),
    replicationFactor: whole(-1, -1, 10, 'copies of the topic when it is created; -1 is the brokers’ default'),
    tls: flag(false, 'speak TLS with the brokers'),
    caFile: optionalText('PEM file of the authority that signed the brokers’ certificates'),
    certFile: optionalText('PEM file of the client’s certificate'),
    keyFile: optionalText('PEM file of the client’s private key'),
    saslMechanism: oneOf(SASL_MECHANISMS, 'none', 'how to authenticate'),
    saslUsername: optionalText('user name for SASL'),
    saslPassword: optionalText('password for SASL', true),
    confirmTimeoutMs: whole(5000, 10, 60_000, 'how long a replicated command waits for Kafka before 503, ms'),
  },
  http: {
    host: text('127.0.0.1', 'address to listen on'),
    port: whole(7420, 0, 65_535, 'port to listen on; 0 takes a free one'),
    maxInFlight: whole(10_000, 1, 1_000_000, 'most requests under way at once; beyond it the answer is 503'),
    stopGraceMs: whole(10_000, 0, 600_000, 'how long a stop waits for requests under way, ms'),
  },
  reservations: {
    ttlSeconds: whole(600, 1, 86_400, 'time to live of a reservation that names none, s'),
    ttlMaxSeconds: whole(3600, 1, 2_592_000, 'longest time to live that a reserve or an extend may ask for, s'),
    holdPolicy: oneOf(
      HOLD_POLICIES,
      'larger',
      'whose amount is held: the caller’s, the model’s max_cost, or the larger',
    ),
    level: oneOf(['durable', 'replicated'], 'durable', 'the least level of every command; a request may only raise it'),
    raiseFactor: whole(
      10,
      1,
      1_000_000,
      'a cost above this many times max_cost is charged, but the raise waits for an operator',
    ),
    orphanMs: whole(30_000, 1000, 3_600_000, 'age at which a hold that nobody answered for is given back, ms'),
  },
  service: {
    roles: someOf(ROLES, 'what this process does'),
    sweepMs: whole(1000, 50, 600_000, 'pause between two looks for expired reservations, ms'),
    healMs: whole(500, 50, 600_000, 'pause between two looks at Redis’s readiness, ms'),
    auditSampleSize: whole(200, 1, 10_000, 'accounts compared between Redis and Postgres in one healing pass'),
  },
  checkpoints: {
    keyFile: optionalText(
      'file of the private key that checkpoints are signed with (`holdfast keys checkpoint`); without it none are signed',
    ),
    file: optionalText('file that checkpoints are appended to, besides the topic `<kafka.topic>.checkpoints`'),
    intervalSeconds: whole(60, 1, 86_400, 'pause between two checkpoints, s; none is signed while nothing changes'),
  },
  log: {
    level: oneOf(LOG_LEVELS, 'info', 'least important line that is written'),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Setting<unknown>>>>>;

type ValueOf<S> = S extends Setting<infer T> ? T : never;

/** A configuration that was checked: every setting has its value. */
export type Config = {
  readonly [S in keyof typeof SETTINGS]: {
    readonly [K in keyof (typeof SETTINGS)[S]]: ValueOf<(typeof SETTINGS)[S][K]>;
  };
};

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The name of a setting in a configuration file: `http.max_in_flight`. */
export const fileKey = (section: string, key: string): string => `${section}.${snake(key)}`;
/** The name of a setting in the environment: `HOLDFAST_HTTP_MAX_IN_FLIGHT`. */
export const environmentKey = (section: string, key: string): string =>
  `HOLDFAST_${section}_${snake(key)}`.toUpperCase();

/** Every setting with its names, for loading and for documentation. */
export const allSettings = (): readonly {
  readonly section: string;
  readonly key: string;
  readonly setting: Setting<unknown>;
}[] =>
  Object.entries(SETTINGS).flatMap(([section, keys]) =>
    Object.entries(keys as Readonly<Record<string, Setting<unknown>>>).map(([key, setting]) => ({
      section,
      key,
      setting,
    })),
  );

/** Names in the environment that begin with HOLDFAST_ and are no setting of a server. */
export const OTHER_ENVIRONMENT_KEYS: readonly string[] = [
  /** Path of the configuration file. */
  'HOLDFAST_CONFIG',
  /** For the command line: the server to talk to, and the key. */
  'HOLDFAST_URL',
  'HOLDFAST_KEY',
];
/** What tests and the stack tool use for themselves. */
export const OTHER_ENVIRONMENT_PREFIXES: readonly string[] = ['HOLDFAST_TEST_', 'HOLDFAST_STACK_'];
