/**
 * The one place that imports kafkajs. It is no longer maintained, so what it reports is never trusted for order or
 * completeness (positions and hashes are), and nothing of it is used that keeps state behind our back: no consumer groups (they
 * reset offsets silently, #1119, and commit for partitions that they lost, #1046), no producer with retries of its own (it resolves
 * with truncated offsets, #1798, and an idempotent one gets out of sequence, #598), and not its encoding of records (slow). What is
 * left is its connections, and its protocol for all but Produce and Fetch.
 */
import { readFile } from 'node:fs/promises';
import { connect as connectPlain, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import kafkajs, { Kafka, logLevel } from 'kafkajs';
import type {
  Admin,
  ApiVersions,
  Broker,
  Cluster,
  ISocketFactory,
  KafkaConfig,
  LogEntry,
  PartitionAssigner,
  SASLOptions,
} from 'kafkajs';
import type { Logger } from 'pino';
import { KafkaError } from './errors.js';
import type { KafkaErrorCode } from './errors.js';
import type { Answer, ApiCall } from './wire/api-call.js';
import { CODE_BY_ERROR_NAME } from './wire/error-codes.js';

export type { Admin, Cluster } from 'kafkajs';
/** Node finds only some of this CommonJS package's names by itself, and this is not one of them. */
export const { ConfigResourceTypes } = kafkajs;

/** How to reach the brokers. */
export interface KafkaSettings {
  /** `host:port`; any of them leads to all. */
  readonly brokers: readonly string[];
  readonly topic: string;
  /** Name under which this program is known to the brokers. */
  readonly clientId: string;
  readonly tls: boolean;
  /** PEM files. Certificate and key go together. */
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly saslMechanism: 'none' | 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly saslUsername?: string | undefined;
  readonly saslPassword?: string | undefined;
  /** How long to wait for a connection, ms. Default 3,000. */
  readonly connectTimeoutMs?: number;
  /** How long to wait for an answer, ms; what is longer counts as lost. Default 10,000. */
  readonly requestTimeoutMs?: number;
}

export type KafkaLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 10_000;
/** kafkajs waits for what is under way before it closes, as long as the request timeout; after this the sockets are cut. */
const CLOSE_GRACE_MS = 300;

const contentOf = async (file: string | undefined): Promise<string | undefined> =>
  file === undefined || file === '' ? undefined : readFile(file, 'utf8');

const tlsOf = async (settings: KafkaSettings): Promise<KafkaConfig['ssl']> => {
  if (!settings.tls) return false;
  const [ca, cert, key] = await Promise.all([settings.caFile, settings.certFile, settings.keyFile].map(contentOf));
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
};

const saslOf = ({ saslMechanism, saslUsername, saslPassword }: KafkaSettings): SASLOptions | undefined => {
  if (saslMechanism === 'none') return undefined;
  const [username, password] = [saslUsername ?? '', saslPassword ?? ''];
  return { mechanism: saslMechanism, username, password };
};

/** kafkajs's log into ours: a list of what may pass, since its entries carry requests, answers and stacks. */
const logInto =
  (log: KafkaLog) =>
  () =>
  ({ namespace, level, log: { message, ...rest } }: LogEntry): void => {
    const said: Record<string, unknown> = rest;
    const fields = { part: 'kafka', from: namespace, broker: said['broker'], error: said['error'] };
    // It says ERROR for every broker that is away for a moment; whoever called learns of that anyway.
    if (level === logLevel.ERROR || level === logLevel.WARN) log.debug(fields, message);
  };

/** Connections of one client: one kafkajs instance whose sockets can be cut when it does not close them in time. */
export class KafkaClient {
  readonly #sockets = new Set<Socket>();
  readonly #kafka: Kafka;
  readonly #closers: (() => Promise<void>)[] = [];

  private constructor(settings: KafkaSettings, log: KafkaLog, ssl: KafkaConfig['ssl']) {
    const sasl = saslOf(settings);
    this.#kafka = new Kafka({
      brokers: [...settings.brokers],
      clientId: settings.clientId,
      ...(ssl === undefined || ssl === false ? {} : { ssl }),
      ...(sasl === undefined ? {} : { sasl }),
      connectionTimeout: settings.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      requestTimeout: settings.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      // Enough to try each address once: waiting and trying again is the caller's affair.
      retry: { retries: settings.brokers.length, initialRetryTime: 30, maxRetryTime: 200 },
      socketFactory: this.#openSocket,
      logLevel: logLevel.WARN,
      logCreator: logInto(log),
    });
  }

  /** Reads the certificates; connects to nothing yet. */
  static async make(settings: KafkaSettings, log: KafkaLog): Promise<KafkaClient> {
    return new KafkaClient(settings, log, await tlsOf(settings));
  }

  /** The cluster behind a consumer that never runs: kafkajs hands it, documented and typed, to whoever assigns partitions. */
  async cluster(): Promise<Cluster> {
    let cluster: Cluster | undefined;
    const take: PartitionAssigner = (handed) => {
      ({ cluster } = handed);
      return {
        name: 'none',
        version: 0,
        assign: () => Promise.resolve([]),
        protocol: () => ({ name: 'none', metadata: Buffer.alloc(0) }),
      };
    };
    const consumer = this.#kafka.consumer({
      groupId: 'holdfast-without-group',
      partitionAssigners: [take],
      readUncommitted: true,
      allowAutoTopicCreation: false,
    });
    this.#closers.push(() => consumer.disconnect());
    await consumer.connect();
    if (cluster === undefined) throw new Error('kafkajs handed no cluster to its partition assigner.');
    return cluster;
  }

  async admin(): Promise<Admin> {
    const admin = this.#kafka.admin();
    this.#closers.push(() => admin.disconnect());
    await admin.connect();
    return admin;
  }

  /** Closes every connection, within half a second whatever the brokers do. Never raises. */
  async close(): Promise<void> {
    const closed = Promise.allSettled(this.#closers.splice(0).map((close) => close()));
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise((resolve) => (timer = setTimeout(resolve, CLOSE_GRACE_MS)));
    await Promise.race([closed, grace]);
    clearTimeout(timer);
    // With an error, so that kafkajs answers the requests that wait: it does not listen to 'close'.
    for (const socket of this.#sockets) socket.destroy(new Error('closed by this program'));
  }

  readonly #openSocket: ISocketFactory = ({ host, port, ssl, onConnect }) => {
    // Null or undefined without TLS, whatever the type says.
    const options = ssl as typeof ssl | null | undefined;
    // A server's name must not be an address (RFC 6066).
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket =
      options === undefined || options === null
        ? connectPlain({ host, port }, onConnect)
        : connectTls({ host, port, ...name, ...options }, onConnect);
    socket.setNoDelay(true).setKeepAlive(true, 60_000);
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  };
}

/** What kafkajs's broker has besides what its types say: what it negotiated, and connections that take any request. */
interface Carrier {
  readonly versions: ApiVersions;
  readonly connectionPool: {
    send<T>(protocol: {
      readonly request: {
        readonly apiKey: number;
        readonly apiVersion: number;
        readonly apiName: string;
        /** Of what is returned it reads these two, and copies the bytes behind the header that it makes. */
        readonly encode: () => { readonly buf: Buffer; readonly buffer: Buffer };
      };
      readonly response: {
        /** Of what this answers it reads how long it must be silent. */
        readonly decode: (bytes: Buffer) => Promise<Carried<T>>;
        readonly parse: (carried: Carried<T>) => T;
      };
      readonly requestTimeout: number;
    }): Promise<T>;
  };
}
interface Carried<T> extends Answer<T> {
  readonly clientSideThrottleTime: number;
}

const isCarrier = (broker: unknown): broker is Carrier =>
  typeof broker === 'object' &&
  broker !== null &&
  'versions' in broker &&
  'connectionPool' in broker &&
  typeof (broker.connectionPool as Partial<Carrier['connectionPool']> | null)?.send === 'function';

/**
 * Has kafkajs carry a request that is written and read here, on the connection that it keeps (authenticated anew when that is
 * due, correlated, timed out). Raises what decoding raises, what kafkajs raises, and KafkaError `refused` when broker and
 * program have no version in common: Kafka before 0.11, whose records were of another kind.
 */
export const sendCall = async <T>(broker: Broker, call: ApiCall<T>): Promise<T> => {
  if (!isCarrier(broker)) throw new Error('kafkajs is not the version that this program was made for.');
  const { apiKey, apiName, oldest, newest, waitMs } = call;
  const offered = broker.versions[apiKey];
  const apiVersion = Math.min(newest, offered?.maxVersion ?? -1);
  if (apiVersion < Math.max(oldest, offered?.minVersion ?? 0))
    throw new KafkaError(
      'refused',
      `Kafka: the broker does not offer ${apiName} in a version from ${oldest} to ${newest}.`,
    );
  return broker.connectionPool.send<T>({
    request: {
      apiKey,
      apiVersion,
      apiName,
      encode: () => {
        const bytes = call.encode(apiVersion);
        return { buf: bytes, buffer: bytes };
      },
    },
    response: {
      decode: async (bytes) => {
        const answer = await call.decode(bytes, apiVersion);
        return { ...answer, clientSideThrottleTime: answer.throttleMs };
      },
      parse: ({ value }) => value,
    },
    requestTimeout: waitMs,
  });
};

const CODE_BY_NAME: ReadonlyMap<string, KafkaErrorCode> = new Map([
  ['KafkaJSNotImplemented', 'unreadable'],
  ['KafkaJSUnsupportedMagicByteInMessageSet', 'unreadable'],
  ['KafkaJSOffsetOutOfRange', 'out_of_range'],
  ['KafkaJSSASLAuthenticationError', 'refused'],
]);

/** The error inside kafkajs's wrappers that says what happened. */
const innermost = (error: unknown): Error => {
  let inner: unknown = error;
  for (let depth = 0; depth < 8 && inner instanceof Error && inner.cause instanceof Error; depth++) inner = inner.cause;
  return inner instanceof Error ? inner : new Error(String(inner));
};

/** Any error of kafkajs as a KafkaError. What says nothing else counts as `unreachable`: try again. */
export const toKafkaError = (error: unknown): KafkaError => {
  if (error instanceof KafkaError) return error;
  const inner = innermost(error);
  const type: unknown = 'type' in inner ? inner.type : undefined;
  const code = CODE_BY_ERROR_NAME.get(type) ?? CODE_BY_NAME.get(inner.name) ?? 'unreachable';
  return new KafkaError(code, `Kafka: ${inner.message}`, { cause: error });
};
