import type { EpochRegistry } from '../core/ports.js';
import { textAt } from './answers.js';
import { Connection } from './connection.js';
import type { ConnectionParts } from './connection.js';
import { RedisSettingError } from './errors.js';
import type { RedisFault } from './errors.js';
import { partitionKeys } from './keys.js';
import type { PartitionKeys } from './keys.js';
import type { Script } from './script-files.js';
import type { ScriptName } from './script-contracts.js';
import type { ServerInfo } from './server-info.js';
import { addressText, entryOf } from './settings.js';
import type { Address, Entry, RedisSettings } from './settings.js';
import { sharesOf } from './slots.js';
import type { Share } from './slots.js';

/** What an operator may want to read in the log. Holds no secret. */
export type RedisNotice =
  | { readonly kind: 'connected'; readonly server: string; readonly version: string; readonly partitions: number }
  | { readonly kind: 'lost'; readonly server: string }
  | { readonly kind: 'unusable'; readonly server: string; readonly why: string }
  | { readonly kind: 'script_failed'; readonly script: string; readonly why: string };

export interface MastersParts {
  readonly settings: RedisSettings;
  readonly partitions: number;
  readonly scripts: ReadonlyMap<ScriptName, Script>;
  readonly epochs: EpochRegistry;
  /** Must not raise. */
  readonly onNotice: (notice: RedisNotice) => void;
}

/** Where a partition's scripts go, and the epoch that they pass. */
export interface Route {
  readonly connection: Connection;
  readonly keys: PartitionKeys;
  readonly epoch: number;
}

const BACKOFF_FIRST_MS = 50;
const BACKOFF_LAST_MS = 2000;

/**
 * One connection to each Redis master (one, or those of a Cluster: the server says which it is), kept up in the
 * background. A connection serves a partition only after its run and replication id were compared with Postgres and the
 * partition's epoch was written into Redis; the comparison is made again for each new connection, and now and then.
 */
export class Masters {
  private readonly keys: readonly PartitionKeys[];
  private readonly entry: Entry;
  private readonly connections = new Map<string, Connection>();
  private readonly versions = new Map<Connection, string>();
  private readonly routes: (Connection | undefined)[] = [];
  private round: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private failures = 0;
  private hurried = false;
  private stopped = false;
  private settingError: RedisSettingError | undefined;

  /** Raises RedisSettingError for an address or a file that can't be used. */
  constructor(private readonly parts: MastersParts) {
    this.entry = entryOf(parts.settings);
    this.keys = Array.from({ length: parts.partitions }, (_, p) => partitionKeys(parts.settings.keyPrefix, p));
  }

  /** Makes the first round. Redis may be away: that is no error. Raises RedisSettingError when it is there and set up wrongly. */
  async start(): Promise<void> {
    await this.refresh();
    if (this.settingError !== undefined) {
      const error = this.settingError;
      await this.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    for (const connection of this.connections.values()) connection.close();
    await this.round;
  }

  /** Undefined when the partition's server can't be reached, or was not compared yet. */
  route(partition: number): Route | undefined {
    const connection = this.routes[partition];
    const keys = this.keys[partition];
    const epoch = connection?.epochs.get(partition);
    if (connection === undefined || keys === undefined || epoch === undefined || !connection.isOpen) return undefined;
    return { connection, keys, epoch };
  }

  /** Takes note of a fault. A slot that moved is looked for again soon. */
  note(fault: RedisFault, script: string): void {
    if (fault.kind === 'moved') this.refreshSoon();
    if (fault.kind === 'script_failed') this.parts.onNotice({ kind: 'script_failed', script, why: fault.message });
  }

  /** Compares servers, slots and epochs again soon, however often this is called. */
  refreshSoon(): void {
    if (this.stopped || this.hurried) return;
    this.hurried = true;
    this.schedule(BACKOFF_FIRST_MS);
  }

  /** One round, or the one under way. Resolves when it is over, however it went. */
  refresh(): Promise<void> {
    this.round ??= this.makeRound().finally(() => (this.round = undefined));
    return this.round;
  }

  private async makeRound(): Promise<void> {
    this.hurried = false;
    let failed = false;
    try {
      const shares = await this.discover();
      this.dropOthers(shares);
      const outcomes = await Promise.allSettled(shares.map((share) => this.tend(share)));
      failed = outcomes.some((outcome) => outcome.status === 'rejected');
    } catch {
      failed = true;
    }
    this.failures = failed ? this.failures + 1 : 0;
    this.schedule(this.pauseMs());
  }

  private pauseMs(): number {
    if (this.hurried) return BACKOFF_FIRST_MS;
    if (this.failures === 0) return this.parts.settings.recheckMs;
    const backoff = Math.min(BACKOFF_LAST_MS, BACKOFF_FIRST_MS * 2 ** Math.min(this.failures, 10));
    // Jitter keeps the nodes of a fleet from coming back all at once.
    return backoff * (0.5 + Math.random());
  }

  private schedule(delayMs: number): void {
    clearTimeout(this.timer);
    if (this.stopped) return;
    this.timer = setTimeout(() => void this.refresh(), delayMs);
    this.timer.unref();
  }

  /** Asks the first server that answers which masters there are. */
  private async discover(): Promise<Share[]> {
    const known = [...this.connections.values()].map((connection) => connection.address);
    let last: unknown;
    for (const address of [...known, ...this.entry.seeds]) {
      try {
        return await this.ask(address);
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }

  private async ask(address: Address): Promise<Share[]> {
    const connection = await this.connect(address);
    const { cluster } = await this.identify(connection);
    if (!cluster) return [{ address, partitions: this.keys.map((_, partition) => partition) }];
    const slots = await connection.command((redis) => redis.cluster('SLOTS'));
    return sharesOf(slots, address, this.keys);
  }

  /** Asks a server who it is. One that is no master any more, or evicts, is left: whatever it was good for, it is not now. */
  private async identify(connection: Connection): Promise<ServerInfo> {
    try {
      return await connection.identify();
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  private async connect(address: Address): Promise<Connection> {
    const name = addressText(address);
    const present = this.connections.get(name);
    if (present?.isOpen) return present;
    const parts: ConnectionParts = {
      options: this.entry.options,
      scripts: this.parts.scripts,
      timeoutMs: this.parts.settings.timeoutMs,
      inFlightMax: this.parts.settings.inFlightMax,
      onClosed: (connection) => this.closed(name, connection),
    };
    try {
      const { connection, server } = await Connection.open(address, parts);
      if (this.stopped) connection.close();
      this.settingError = undefined;
      this.connections.set(name, connection);
      this.versions.set(connection, server.version);
      return connection;
    } catch (error) {
      if (error instanceof RedisSettingError) this.settingError = error;
      const why = error instanceof Error ? error.message : String(error);
      if (this.failures === 0) this.parts.onNotice({ kind: 'unusable', server: name, why });
      throw error;
    }
  }

  private closed(name: string, connection: Connection): void {
    if (this.connections.get(name) !== connection) return;
    this.connections.delete(name);
    this.versions.delete(connection);
    if (this.stopped) return;
    this.parts.onNotice({ kind: 'lost', server: name });
    this.refreshSoon();
  }

  private dropOthers(shares: readonly Share[]): void {
    const names = new Set(shares.map((share) => addressText(share.address)));
    for (const [name, connection] of this.connections) if (!names.has(name)) connection.close();
  }

  /**
   * Writes a partition's epoch into Redis. One that Redis knows a higher epoch of (the database is a new one, or went back) gets a
   * higher one still: with the lower it would never be ready, and the higher may be somebody's who is over.
   */
  private async agree(connection: Connection, partition: number, keys: PartitionKeys, epoch: number): Promise<number> {
    const { rest } = await connection.run('epoch', keys, { epoch: epoch.toString() });
    const present = Number(textAt(rest, 0));
    if (present <= epoch) return epoch;
    const raised = await this.parts.epochs.raiseTo(partition, present + 1);
    await connection.run('epoch', keys, { epoch: raised.toString() });
    return raised;
  }

  /** Sees to one master: connects, compares, writes the epochs, and only then lets its partitions be used. */
  private async tend({ address, partitions }: Share): Promise<void> {
    const connection = await this.connect(address);
    const { runId, replId } = await this.identify(connection);
    const isNew = connection.epochs.size === 0;
    const epochs = await this.parts.epochs.confirm(partitions, runId, replId);
    await Promise.all(
      partitions.map(async (partition) => {
        const keys = this.keys[partition];
        const epoch = epochs.get(partition);
        if (keys === undefined || epoch === undefined) return;
        connection.epochs.set(partition, await this.agree(connection, partition, keys, epoch));
        this.routes[partition] = connection;
      }),
    );
    for (const partition of [...connection.epochs.keys()])
      if (!partitions.includes(partition)) connection.epochs.delete(partition);
    if (!isNew) return;
    const version = this.versions.get(connection) ?? 'unknown';
    this.parts.onNotice({ kind: 'connected', server: addressText(address), version, partitions: partitions.length });
  }
}
