import { Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import { RedisFault, RedisSettingError, faultOf } from './errors.js';
import type { PartitionKeys } from './keys.js';
import { Pending } from './pending.js';
import { SCRIPTS } from './script-contracts.js';
import type { ScriptArgs, ScriptName } from './script-contracts.js';
import type { Script } from './script-files.js';
import { readServerInfo } from './server-info.js';
import type { ServerInfo } from './server-info.js';
import type { Address } from './settings.js';

/** A script's answer: a word of its header, Redis's clock (ms since 1970), and what follows. */
export interface Answer {
  readonly word: string;
  readonly ms: number;
  readonly rest: readonly unknown[];
}

export interface ConnectionParts {
  readonly options: RedisOptions;
  readonly scripts: ReadonlyMap<ScriptName, Script>;
  readonly timeoutMs: number;
  readonly inFlightMax: number;
  /** Called once, when the connection is gone, whatever the reason. */
  readonly onClosed: (connection: Connection) => void;
}

/** Least time that a command other than a hold is given, ms: a rebuild's chunk takes longer than a hold. */
const OTHER_TIMEOUT_MS = 5000;
const CONNECT_TIMEOUT_MS = 3000;
/** A flush of scripts may fall between loading one and calling it, but hardly this often. */
const NOSCRIPT_TRIES = 5;

/**
 * One connection to one master, for as long as it lasts: it never reconnects by itself and never sends anything twice,
 * because what follows a break must first find out which Redis it is talking to (the client library would resend first).
 */
export class Connection {
  /** The epoch of each partition that this connection may be used for; empty until it was compared with Postgres. */
  readonly epochs = new Map<number, number>();
  private readonly redis: Redis;
  private readonly pending: Pending;
  private readonly loading = new Map<ScriptName, Promise<void>>();
  private clockOffsetMs = 0;
  private closed = false;
  private socketError: Error | undefined;

  private constructor(
    readonly address: Address,
    private readonly parts: ConnectionParts,
  ) {
    this.pending = new Pending(parts.timeoutMs, () => this.close());
    this.redis = new Redis({
      ...parts.options,
      ...address,
      lazyConnect: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
      connectTimeout: CONNECT_TIMEOUT_MS,
      disableClientInfo: true,
      connectionName: 'holdfast',
    });
    // Errors of the socket also end it; who waits for a command learns only that it was closed.
    this.redis.on('error', (error) => (this.socketError = error));
    this.redis.once('end', () => this.ended());
  }

  /** Connects, checks the server and loads the scripts. Raises RedisFault, or RedisSettingError for an evicting Redis. */
  static async open(address: Address, parts: ConnectionParts): Promise<{ connection: Connection; server: ServerInfo }> {
    const connection = new Connection(address, parts);
    try {
      await connection.redis.connect();
      const server = await connection.identify();
      await Promise.all([...parts.scripts.keys()].map((name) => connection.load(name)));
      return { connection, server };
    } catch (error) {
      connection.close();
      if (error instanceof RedisSettingError) throw error;
      // Of the two, the socket's error says why: a port where nobody listens, a certificate that nobody signed.
      throw faultOf(connection.socketError ?? error);
    }
  }

  get isOpen(): boolean {
    return !this.closed && this.redis.status === 'ready';
  }

  /** Redis's clock now, ms since 1970, worked out from its last answer; never ahead of it by more than the clocks drift. */
  redisNowMs(): number {
    return performance.now() + this.clockOffsetMs;
  }

  /** Asks the server who it is. Raises RedisFault or RedisSettingError. */
  async identify(): Promise<ServerInfo> {
    return readServerInfo(await this.command((redis) => redis.info()));
  }

  /** Sends a command that is no script. Raises RedisFault. */
  async command<T>(send: (redis: Redis) => Promise<T>): Promise<T> {
    try {
      return await this.pending.wait(send(this.redis), Math.max(this.parts.timeoutMs, OTHER_TIMEOUT_MS));
    } catch (error) {
      throw this.judge(error);
    }
  }

  /** Runs a script by EVALSHA; loads it and sends the call again where the server does not know it. Raises RedisFault. */
  async run<N extends ScriptName>(
    name: N,
    keys: PartitionKeys,
    args: ScriptArgs<N>,
    more: readonly string[] = [],
  ): Promise<Answer> {
    if (this.pending.size >= this.parts.inFlightMax)
      throw new RedisFault('not_sent', 'Too many commands to Redis are under way.');
    const contract = SCRIPTS[name];
    const call: string[] = [this.script(name).sha, contract.keys.length.toString()];
    for (const key of contract.keys) call.push(keys[key]);
    for (const arg of contract.args) call.push((args as Readonly<Record<string, string>>)[arg] ?? '');
    for (const text of more) call.push(text);
    const timeoutMs = name === 'hold' ? this.parts.timeoutMs : Math.max(this.parts.timeoutMs, OTHER_TIMEOUT_MS);
    try {
      return this.read(name, await this.evalsha(name, call, timeoutMs));
    } catch (error) {
      throw this.judge(error);
    }
  }

  /** Breaks the connection. What is under way ends as `outcome_unknown`. */
  close(): void {
    this.redis.disconnect();
    this.ended();
  }

  private async evalsha(name: ScriptName, call: readonly string[], timeoutMs: number): Promise<unknown> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.pending.wait(this.redis.call('EVALSHA', ...call), timeoutMs);
      } catch (error) {
        if (tries === NOSCRIPT_TRIES || !(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
        await this.load(name);
      }
    }
  }

  private load(name: ScriptName): Promise<void> {
    const already = this.loading.get(name);
    if (already !== undefined) return already;
    const { sha, source } = this.script(name);
    const loading = this.command((redis) => redis.script('LOAD', source))
      .then((answer) => {
        if (answer !== sha)
          throw new RedisFault('script_failed', `Redis names script ${name} otherwise than SHA-1 does.`);
      })
      .finally(() => this.loading.delete(name));
    this.loading.set(name, loading);
    return loading;
  }

  private script(name: ScriptName): Script {
    const script = this.parts.scripts.get(name);
    if (script === undefined) throw new Error(`Script ${name} was not loaded.`);
    return script;
  }

  private read(name: ScriptName, answer: unknown): Answer {
    if (Array.isArray(answer)) {
      const [word, ms, ...rest] = answer as readonly unknown[];
      if (typeof word === 'string' && typeof ms === 'number') {
        this.clockOffsetMs = ms - performance.now();
        return { word, ms, rest };
      }
    }
    throw new RedisFault('script_failed', `Script ${name} gave an answer of no known form.`);
  }

  /** A server that is no master any more, or is being stopped, is left at once: the next connection finds the new one. */
  private judge(error: unknown): RedisFault {
    const fault = faultOf(error);
    if (fault.message.includes('READONLY')) this.close();
    return fault;
  }

  private ended(): void {
    if (this.closed) return;
    this.closed = true;
    this.epochs.clear();
    this.pending.stop();
    this.parts.onClosed(this);
  }
}
