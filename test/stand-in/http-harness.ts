import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { createHttpServer } from '../../src/http/index.js';
import type { HttpLimits, HttpParts, ReadinessReport } from '../../src/http/index.js';
import type { Scope } from '../../src/core/ports.js';
import { createLogger } from '../../src/logging.js';
import { createMetrics, observeLedger } from '../../src/metrics/index.js';
import type { Metrics } from '../../src/metrics/index.js';
import { mintKey } from '../../src/service/keys.js';
import { LedgerService } from '../../src/service/ledger-service.js';
import { MemoryJournal, PARTITIONS } from './memory-journal.js';
import { MemoryKeys } from './memory-keys.js';

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON; a text as it is. */
  readonly body?: object | string;
  /** Instead of the harness's key. */
  readonly key?: string;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS' | 'HEAD';

export interface Answer {
  readonly status: number;
  readonly headers: LightMyRequestResponse['headers'];
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly body: Record<string, unknown>;
}

/** The HTTP interface over a ledger whose journal is in memory, with Redis always saying "ask the journal". */
export class HttpHarness {
  readonly journal = new MemoryJournal();
  readonly keys = new MemoryKeys();
  readonly lines: string[] = [];
  readonly metrics: Metrics = createMetrics();
  readonly app: FastifyInstance;
  report: ReadinessReport = {
    ready: true,
    schemaVersion: 3,
    scripts: { hold: 'da39a3ee5e6b4b0d3255bfef95601890afd80709' },
    parts: [{ name: 'journal', ok: true, state: 'reached, heads read 20 ms ago' }],
  };
  /** The key of the tenant `acme` that may do everything. */
  key = '';

  private constructor(limits: Partial<HttpLimits>, more: Partial<HttpParts>) {
    const { journal } = this;
    const ledger = new LedgerService({
      identity: { ledger: 'test', partitions: PARTITIONS, incarnation: 1 },
      holds: {
        hold: () => Promise.resolve({ kind: 'ask_journal', why: 'in memory' }),
        release: () => Promise.resolve(),
        settle: () => Promise.resolve(),
      },
      journal,
      reader: journal,
      confirmer: { confirmed: () => Promise.resolve() },
      balances: { visible: () => Promise.resolve(true), require: () => undefined },
      defaults: { ttlSeconds: 600, ttlMaxSeconds: 3600, holdPolicy: 'larger', level: 'durable' },
    });
    this.app = createHttpServer({
      ledger: observeLedger(ledger, this.metrics.ledger),
      keys: this.keys,
      readiness: () => Promise.resolve(this.report),
      metrics: this.metrics,
      logger: createLogger({ destination: { write: (line: string) => void this.lines.push(line) } }),
      build: { version: '0.1.0-test' },
      limits,
      ...more,
    });
  }

  /** Starts one, with a key of the tenant `acme`. */
  static async start(limits: Partial<HttpLimits> = {}, more: Partial<HttpParts> = {}): Promise<HttpHarness> {
    const harness = new HttpHarness(limits, more);
    harness.key = await harness.mint(['admin'], 'acme');
    await harness.app.ready();
    return harness;
  }

  /** An empty ledger and no keys but a new one of `acme`: building the server anew for every test would take a second each. */
  async reset(): Promise<void> {
    this.journal.reset();
    this.keys.keys.clear();
    this.keys.failure = undefined;
    this.lines.length = 0;
    this.key = await this.mint(['admin'], 'acme');
  }

  /** Makes a key; without a tenant it is for all. */
  async mint(scopes: readonly Scope[], tenant?: string): Promise<string> {
    const request = { scopes, label: 'test', ...(tenant === undefined ? {} : { tenant }) };
    return (await mintKey(this.keys, request)).text;
  }

  async send(method: Method, url: string, { headers = {}, body, key = this.key }: Sent = {}): Promise<Answer> {
    const response = await this.app.inject({
      method,
      url,
      headers: {
        ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.statusCode, headers: response.headers, text: response.body, body: parsed(response.body) };
  }

  get(url: string, sent: Sent = {}): Promise<Answer> {
    return this.send('GET', url, sent);
  }

  post(url: string, body: object | string, sent: Sent = {}): Promise<Answer> {
    return this.send('POST', url, { ...sent, body });
  }

  /** Opens the wallet of a tenant and pays in. */
  async fund(account: string, amount: string, more: object = {}, key = this.key): Promise<void> {
    const opened = await this.post('/v1/accounts', { id: account, unit: 'USD', ...more }, { key });
    const path = `/v1/accounts/${encodeURIComponent(account)}/recharges`;
    const paid = amount === '0' ? opened : await this.post(path, { amount }, { key });
    if (opened.status !== 201 || paid.status !== 201) throw new Error(`Could not fund ${account}: ${paid.text}`);
  }
}

const parsed = (text: string): Record<string, unknown> => {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
};
