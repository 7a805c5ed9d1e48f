/** A ledger under test: the real server in this process, over a database, a topic and a key prefix of its own, and ways to look behind it. */
import { Redis } from 'ioredis';
import pg from 'pg';
import type { LedgerEvent } from '../../events/index.js';
import { migrateDatabase, startServer } from '../../src/compose.js';
import type { Holdfast, RunningServer } from '../../src/compose.js';
import type { Config } from '../../src/config/settings.js';
import { partitionOf } from '../../src/core/partition.js';
import { createLogger } from '../../src/logging.js';
import { ledgerKeyPrefix } from '../../src/redis/index.js';
import { dropLedger, newLedgerConfig, sharedServices, until } from '../faults/ledger-under-fault.js';

export { NO_DRIFT, until } from '../faults/ledger-under-fault.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; empty when there is none. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Buckets {
  readonly available: string;
  readonly held: string;
  readonly used: string;
  readonly funded: string;
}

/** Who asks: a key for all tenants, so each request says for whom. */
const TENANT = 'holdfast-tenant';

export class LedgerUnderTest {
  readonly sql: pg.Pool;
  readonly redis: Redis;

  private constructor(
    readonly config: Config,
    readonly server: RunningServer,
    readonly adminKey: string,
  ) {
    this.sql = new pg.Pool({ connectionString: config.postgres.url, max: 4 });
    this.redis = new Redis(config.redis.url);
  }

  /** Starts one with every role, and waits until Redis guards every partition. */
  static async start(): Promise<LedgerUnderTest> {
    const config = await newLedgerConfig(sharedServices());
    await migrateDatabase(config);
    const server = await startServer(config, createLogger({ level: 'silent' }));
    if (server.firstKey === undefined) throw new Error('A new ledger makes its first key.');
    const ledger = new LedgerUnderTest(config, server, server.firstKey);
    await ledger.guarded();
    return ledger;
  }

  get holdfast(): Holdfast {
    return this.server.holdfast;
  }

  /** What the ledger's keys in Redis begin with. */
  get keyPrefix(): string {
    return ledgerKeyPrefix(this.config.redis.keyPrefix, this.holdfast.identity.ledger);
  }

  get partitions(): readonly number[] {
    return Array.from({ length: this.config.ledger.partitions }, (_, partition) => partition);
  }

  partitionOf(tenant: string): number {
    return partitionOf(tenant, this.config.ledger.partitions);
  }

  /** Waits until Redis is ready for every partition. */
  async guarded(): Promise<void> {
    await until('every partition of Redis is ready', async () => {
      const info = await this.holdfast.redis.readiness.info(this.partitions);
      return this.partitions.every((partition) => info.get(partition)?.ready === true);
    });
  }

  /** Sends a request for a tenant; an object goes as JSON, a text as it is. */
  async ask(method: string, path: string, tenant: string, body?: object | string): Promise<Answer> {
    const response = await fetch(`${this.server.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.adminKey}`,
        [TENANT]: tenant,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed: unknown = text === '' ? {} : JSON.parse(text);
    return { status: response.status, headers: response.headers, text, body: parsed as Answer['body'] };
  }

  post(path: string, tenant: string, body: object | string): Promise<Answer> {
    return this.ask('POST', path, tenant, body);
  }

  get(path: string, tenant: string): Promise<Answer> {
    return this.ask('GET', path, tenant);
  }

  /** Opens an account and pays in, when there is something to pay in. Raises an Error when either is refused. */
  async open(account: string, amount = '0', more: object = {}): Promise<void> {
    const tenant = account.split('/')[0] ?? account;
    const opened = await this.post('/v1/accounts', tenant, { id: account, unit: 'USD', ...more });
    if (opened.status !== 201) throw new Error(`${account} was not opened: ${opened.text}`);
    if (amount === '0') return;
    const paid = await this.post(`/v1/accounts/${encodeURIComponent(account)}/recharges`, tenant, { id: `first-${account}`, amount }); // prettier-ignore
    if (paid.status !== 201) throw new Error(`${account} was not paid in: ${paid.text}`);
  }

  reserve(tenant: string, body: object | string): Promise<Answer> {
    return this.post('/v1/reservations', tenant, body);
  }

  /** `finalize`, `refund` or `extend` of a reservation. */
  onReservation(what: string, tenant: string, id: string, body: object): Promise<Answer> {
    return this.post(`/v1/reservations/${encodeURIComponent(id)}/${what}`, tenant, body);
  }

  /** An account's buckets as HTTP tells them. */
  async balance(account: string): Promise<Buckets> {
    const tenant = account.split('/')[0] ?? account;
    const { body } = await this.get(`/v1/accounts/${encodeURIComponent(account)}`, tenant);
    const { available, held, used, funded } = body;
    return { available, held, used, funded } as Buckets;
  }

  /** An account's buckets in its row. */
  async balanceInSql(account: string): Promise<Buckets> {
    const { rows } = await this.sql.query<Buckets>(
      'select available::text, held::text, used::text, funded::text from holdfast.accounts where account = $1',
      [account],
    );
    const [row] = rows;
    if (row === undefined) throw new Error(`${account} has no row.`);
    return row;
  }

  /** An account's buckets in Redis, once it has applied all that was committed; speculations are still taken off. */
  async balanceInRedis(account: string): Promise<Buckets> {
    const partition = this.partitionOf(account.split('/')[0] ?? account);
    await this.applied(partition);
    const key = `{${this.keyPrefix}:${partition}}:a:${account}`;
    const [spendable, limit, held, used, funded] = await this.redis.hmget(key, 'sp', 'lim', 'he', 'us', 'fu');
    const available = BigInt(spendable ?? '') - BigInt(limit ?? '');
    return { available: available.toString(), held: held ?? '', used: used ?? '', funded: funded ?? '' };
  }

  /** Waits until Redis has applied what is committed now. */
  async applied(partition: number): Promise<void> {
    const [head] = await this.holdfast.reading.reader.heads([partition]);
    await until('Redis has applied the log', async () => {
      const info = (await this.holdfast.redis.readiness.info([partition])).get(partition);
      return (info?.checkpoint?.position ?? -1) >= (head?.position ?? 0);
    });
  }

  /** A tenant's events, in order. */
  async events(tenant: string): Promise<readonly LedgerEvent[]> {
    const all = await this.holdfast.readEvents(this.partitionOf(tenant), 0, 100_000);
    return all.map(({ event }) => event).filter((event) => event.tenant === tenant);
  }

  /** Stops the server, and drops what it lay on. */
  async stop(): Promise<void> {
    await this.server.stop();
    await this.sql.end();
    this.redis.disconnect();
    await dropLedger(sharedServices(), this.config);
  }
}

/** Runs something so many times at once and returns all answers, in order. */
export const atOnce = <T>(times: number, run: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, n) => run(n)));

/** How many answers have each status. */
export const statuses = (answers: readonly Answer[]): Readonly<Record<number, number>> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
