import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

/** What came back for a command, after all tries. */
export type Reply =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** The parsed JSON; undefined when there was none. Amounts in it are decimal strings. */
      readonly body: unknown;
      readonly tries: number;
    }
  /** No definite answer in time: it may have happened or not. The same id may be sent again. */
  | { readonly kind: 'unknown'; readonly why: string; readonly tries: number };

export interface LedgerClientOptions {
  /** `http://127.0.0.1:8080` */
  readonly baseUrl: string;
  /** A bearer key for all tenants. Never shown. */
  readonly key: string;
  /** Keep-alive connections; as many requests are under way at once. */
  readonly connections: number;
  /** How long one try may take, ms. Default 10,000. */
  readonly tryTimeoutMs?: number;
  /** How long a command is tried again before it counts as unknown, ms. Default 30,000. */
  readonly giveUpMs?: number;
}

const RETRY_FIRST_MS = 20;
const RETRY_MAX_MS = 1_000;
/** An answer of the ledger to one command has well under 64 KiB. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

interface Try {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterMs: number | undefined;
}

const parseJson = (text: string): unknown => {
  try {
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
};

const retryAfterOf = (header: string | string[] | undefined): number | undefined => {
  const seconds = typeof header === 'string' && /^\d{1,4}$/.test(header) ? Number(header) : undefined;
  return seconds === undefined ? undefined : seconds * 1_000;
};

/**
 * The ledger over HTTP as a gateway calls it: keep-alive connections, and the same command again, under the same id, on
 * 503 or a lost connection. Ids make that safe: nothing happens twice.
 * (undici, because it takes about 0.6 of the CPU of node:http's agent, measured, and the load shares its machine.)
 */
export class LedgerClient {
  readonly #pool: Pool;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #giveUpMs: number;

  constructor(options: LedgerClientOptions) {
    const timeoutMs = options.tryTimeoutMs ?? 10_000;
    this.#giveUpMs = options.giveUpMs ?? 30_000;
    this.#headers = { authorization: `Bearer ${options.key}`, 'content-type': 'application/json' };
    this.#pool = new Pool(new URL(options.baseUrl).origin, {
      connections: options.connections,
      pipelining: 1,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: { timeout: timeoutMs },
      maxResponseSize: ANSWER_BYTES_MAX,
    });
  }

  /** Sends a command of `tenant`; its body must carry an id, or its path be one that may be sent twice. Never raises. */
  post(path: string, tenant: string, body: Readonly<Record<string, unknown>>): Promise<Reply> {
    return this.#send('POST', path, tenant, JSON.stringify(body));
  }

  get(path: string, tenant: string): Promise<Reply> {
    return this.#send('GET', path, tenant);
  }

  /** Lets what is under way finish, then closes the connections. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  async #send(method: 'GET' | 'POST', path: string, tenant: string, body?: string): Promise<Reply> {
    const deadlineMs = performance.now() + this.#giveUpMs;
    let backoffMs = RETRY_FIRST_MS;
    for (let tries = 1; ; tries++) {
      const outcome = await this.#tryOnce(method, path, tenant, body);
      if (!(outcome instanceof Error) && outcome.status !== 503)
        return { kind: 'answered', status: outcome.status, body: outcome.body, tries };
      // Not all wait the same time: they would all come back at once.
      const waitMs = Math.min(retryWait(outcome) ?? backoffMs, RETRY_MAX_MS) * (0.5 + Math.random() / 2);
      if (performance.now() + waitMs > deadlineMs)
        return { kind: 'unknown', why: outcome instanceof Error ? outcome.message : 'status 503', tries };
      await sleep(waitMs);
      backoffMs *= 2;
    }
  }

  async #tryOnce(method: 'GET' | 'POST', path: string, tenant: string, body?: string): Promise<Try | Error> {
    try {
      const response = await this.#pool.request({
        method,
        path,
        headers: { ...this.#headers, 'holdfast-tenant': tenant },
        ...(body === undefined ? {} : { body }),
      });
      const text = await response.body.text();
      const retryAfterMs = retryAfterOf(response.headers['retry-after']);
      return { status: response.statusCode, body: parseJson(text), retryAfterMs };
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }
}

/** What the server asks for, where it asks for more than nothing. The caller caps it: a load test shall not idle for long. */
const retryWait = (outcome: Try | Error): number | undefined =>
  outcome instanceof Error || outcome.retryAfterMs === 0 ? undefined : outcome.retryAfterMs;
