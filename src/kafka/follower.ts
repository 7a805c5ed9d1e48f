import { setTimeout as sleep } from 'node:timers/promises';
import type { SealedEvent } from '../../events/index.js';
import { UnavailableError } from '../core/ports.js';
import type { DecodeBody, JournalReader, Reached, ReplicationConfirmer, RunSink } from '../core/ports.js';
import type { KafkaLog, KafkaSettings } from './client.js';
import { Complaints } from './complaints.js';
import { Confirmations } from './confirmations.js';
import { FollowedPartition } from './followed-partition.js';
import { KafkaLink } from './link.js';
import { LogFollower } from './log-follower.js';
import { SinkLane } from './sink-lane.js';

export interface FollowerParts {
  readonly settings: KafkaSettings;
  readonly log: KafkaLog;
  readonly ledger: string;
  readonly partitions: readonly number[];
  readonly decode: DecodeBody;
  /** Asked for the hash of a position when a command asks late. */
  readonly reader: Pick<JournalReader, 'read'>;
  /** Where the events go. Absent: commands are confirmed, and that is all. */
  readonly sink?: RunSink;
  /** What the sink has already is not handed to it. Absent: it has nothing but what came from here. */
  readonly reached?: Reached;
  /** `tail` (default): what comes from now on; what a slow sink misses is left out. `earliest`: everything; a slow sink is waited for. */
  readonly from?: 'tail' | 'earliest';
  /** Where this process relays too: up to which offset it did; `sent` is to be told of it then. */
  readonly relayedTo?: (partition: number) => number | undefined;
  /** How long a command waits to be confirmed, ms. Default 5,000. */
  readonly confirmTimeoutMs?: number;
}

/** How one partition is doing, as it is followed here. */
export interface FollowerStatus {
  readonly partition: number;
  /** `stopped`: not followed any more, or its events are not handed on any more. */
  readonly phase: 'starting' | 'following' | 'stopped';
  /** In words: what stopped it, or what is missing. */
  readonly why?: string;
  /** The last position that was followed. */
  readonly position: number;
  /** Records that are none of this ledger's, since the start. */
  readonly foreign: number;
  /** Records that had been here before, since the start. */
  readonly repeated: number;
  /** Events that the sink was too slow for, since the start. */
  readonly skipped: number;
}

const CONFIRM_TIMEOUT_MS = 5_000;
const STOP_GRACE_MS = 300;

/**
 * Follows the whole log on Kafka from its end: confirms commands that wait for Kafka, and hands events on, in order, each once.
 * It belongs to no consumer group and commits no offset: it reads every partition itself, takes what chains on by position
 * and hash, and looks for its place again when the log is not what it was. Kafka away is waited for; it never gives up.
 */
export class Follower implements ReplicationConfirmer {
  readonly #link: KafkaLink;
  readonly #log: KafkaLog;
  readonly #all: ReadonlyMap<number, FollowedPartition>;
  readonly #lanes: ReadonlyMap<number, SinkLane>;
  readonly #confirmations: Confirmations;
  readonly #reading: LogFollower;
  readonly #started: Promise<void>;
  #running: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(parts: FollowerParts) {
    const { settings, log, partitions, reader, sink, decode, from = 'tail', reached = () => 0 } = parts;
    const complaints = new Complaints(log, 'follower');
    this.#log = log;
    this.#link = new KafkaLink(settings, log);
    this.#all = new Map(partitions.map((partition) => [partition, new FollowedPartition(partition)]));
    this.#confirmations = new Confirmations(reader, parts.confirmTimeoutMs ?? CONFIRM_TIMEOUT_MS);
    const onStop = (partition: number, why: string): void =>
      this.#log.error({ part: 'follower', partition }, `stopped handing events on at ${why}`);
    const laneOf = (partition: number, to: RunSink): SinkLane =>
      new SinkLane({ partition, sink: to, reached, decode, complaints, onStop });
    this.#lanes = new Map(
      sink === undefined ? [] : partitions.map((partition) => [partition, laneOf(partition, sink)]),
    );
    let tellStarted = (): void => undefined;
    this.#started = new Promise((resolve) => (tellStarted = resolve));
    this.#reading = new LogFollower({
      link: this.#link,
      log,
      complaints,
      ledger: parts.ledger,
      partitions: [...this.#all.values()],
      from,
      onNext: (partition, messages) => this.#lanes.get(partition)?.push(messages),
      isFull: (partition) => from === 'earliest' && this.#lanes.get(partition)?.full === true,
      relayedTo: parts.relayedTo ?? (() => undefined),
      isUrgent: () => this.#confirmations.waiting > 0,
      onStarted: tellStarted,
    });
  }

  /** Begins in the background. Nothing that is away keeps it from starting. */
  start(): void {
    this.#running ??= this.#reading.run();
  }

  /** Resolves once the place in every partition is known: from then on nothing is missed. */
  started(): Promise<void> {
    return this.#started;
  }

  async confirmed(partition: number, position: number, hash: string): Promise<void> {
    const one = this.#all.get(partition);
    if (one === undefined) throw new Error(`Partition ${partition} is not followed.`);
    if (this.#stopping !== undefined) throw new UnavailableError('stopping', 'This process is stopping.');
    const confirming = this.#confirmations.confirm(one, position, hash);
    this.#reading.hurry();
    await confirming;
  }

  /** Told of what this process has sent and Kafka has acknowledged (RelayParts' `onSent`), so that it need not be read back. */
  sent(partition: number, batch: readonly SealedEvent[], baseOffset: number): void {
    const messages = batch.map(({ event: { position, incarnation }, body, prevHash, hash }) => ({
      position,
      incarnation,
      body,
      prevHash,
      hash,
    }));
    this.#reading.takeSent(partition, messages, baseOffset);
  }

  /** How each partition is doing, for metrics and readiness. */
  status(): FollowerStatus[] {
    return [...this.#all.values()].map((one) => {
      const { partition, position, foreign, repeated } = one;
      const lane = this.#lanes.get(partition);
      const stopped = one.stopped ?? lane?.stopped;
      const missing = one.gapKnownUntil > 0 ? `events behind position ${position} are missing on Kafka` : undefined;
      const why = stopped ?? missing;
      return {
        partition,
        phase: stopped !== undefined ? 'stopped' : one.ready ? 'following' : 'starting',
        ...(why === undefined ? {} : { why }),
        position,
        foreign,
        repeated,
        skipped: lane?.skipped ?? 0,
      };
    });
  }

  /** Follows no further; whoever waits is told. Within a second, whatever the services and the sink do. */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#reading.close();
    for (const one of this.#all.values()) one.stop('this process is stopping');
    const lanes = Promise.all([...this.#lanes.values()].map((lane) => lane.close()));
    await Promise.all([
      Promise.race([lanes, sleep(STOP_GRACE_MS, undefined, { ref: false })]),
      this.#link.close().then(() => this.#running),
    ]);
  }
}
