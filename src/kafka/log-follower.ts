import { genesisHash } from '../../events/index.js';
import { Alarm } from './alarm.js';
import type { KafkaLog } from './client.js';
import type { Complaints } from './complaints.js';
import { KafkaError, reasonOf } from './errors.js';
import type { FollowedPartition } from './followed-partition.js';
import type { Fetched, KafkaLink } from './link.js';
import { readRecord } from './message.js';
import type { LogMessage } from './message.js';
import { readTails } from './tail.js';
import type { Tail } from './tail.js';

export interface LogFollowerParts {
  readonly link: KafkaLink;
  readonly log: KafkaLog;
  readonly complaints: Complaints;
  readonly ledger: string;
  readonly partitions: readonly FollowedPartition[];
  readonly from: 'tail' | 'earliest';
  /** Given what came next, in order. Must not raise or block. */
  readonly onNext: (partition: number, messages: readonly LogMessage[]) => void;
  /** True while nothing more of this partition is to be read. */
  readonly isFull: (partition: number) => boolean;
  /** The offset up to which this process writes the partition itself, and tells what it wrote; undefined where it does not. */
  readonly relayedTo: (partition: number) => number | undefined;
  /** True while a command waits for what is about to be read. */
  readonly isUrgent: () => boolean;
  /** Called once, when the place of every partition is known. */
  readonly onStarted: () => void;
}

/** From one fetch to the next, ms, unless it is urgent: a fetch costs about as much for one event as for ten. */
const PACE_MS = 40;

/** The broker answers a fetch as soon as there is something, or after this; a stop waits as long. */
const FETCH = { maxWaitMs: 300, maxBytes: 8_388_608, maxBytesPerPartition: 1_048_576 } as const;
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 2_000;
/** How many records before a gap are read again first. */
const REWIND_MIN = 1_000;
/** How long a gap on Kafka is left to the relay to fill before it is looked into again, ms. */
const GAP_LOOK_MS = 60_000;
const NOTHING_TO_READ_MS = 20;

/** Reads every partition from its place on, for ever. After anything unexpected it looks for its place again, loudly. */
export class LogFollower {
  readonly #parts: LogFollowerParts;
  readonly #alarm = new Alarm();
  /** Of readers that let events gather. */
  readonly #gathering = new Set<Alarm>();
  readonly #byNumber: ReadonlyMap<number, FollowedPartition>;
  #closing = false;
  #started = false;

  constructor(parts: LogFollowerParts) {
    this.#parts = parts;
    this.#byNumber = new Map(parts.partitions.map((one) => [one.partition, one]));
  }

  /** Resolves after `close`. Never raises: what goes wrong is said, and tried again. */
  async run(): Promise<void> {
    let retryMs = RETRY_MIN_MS;
    while (!this.#isClosing()) {
      try {
        await this.#findPlaces();
        await this.#readRound(() => (retryMs = RETRY_MIN_MS));
      } catch (error) {
        if (this.#isClosing()) return;
        this.#parts.complaints.say('read', error);
        await this.#alarm.wait(retryMs);
        retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
      }
    }
  }

  /** Ends `run` with the request that is under way; closing the link ends that. */
  close(): void {
    this.#closing = true;
    this.#alarm.ring();
    this.hurry();
  }

  /** A command has begun to wait: read now. */
  hurry(): void {
    for (const alarm of this.#gathering) alarm.ring();
  }

  /** A method, since it changes while a request is under way. */
  #isClosing(): boolean {
    return this.#closing;
  }

  #active(): FollowedPartition[] {
    return this.#parts.partitions.filter(({ stopped }) => stopped === undefined);
  }

  /** Where to read on: for a partition that begins, and for one that lost its place. */
  async #findPlaces(): Promise<void> {
    const { link, ledger, from, onStarted } = this.#parts;
    const active = this.#active();
    const fresh = active.filter((one) => !one.ready);
    if (fresh.length > 0) {
      const numbers = fresh.map(({ partition }) => partition);
      if (from === 'tail') {
        const tails = await readTails(link, ledger, numbers);
        for (const one of fresh) this.#beginAtTail(one, tails.get(one.partition));
      } else {
        const offsets = await link.offsets(numbers, 'earliest');
        for (const one of fresh) one.begin(this.#beginning(one), offsets.get(one.partition) ?? 0);
      }
    }
    for (const one of active) if (one.lost !== undefined) await this.#findAgain(one, one.lost);
    if (!this.#started) onStarted();
    this.#started = true;
  }

  #beginning({ partition }: FollowedPartition) {
    return { position: 0, hash: genesisHash(this.#parts.ledger, partition), incarnation: 0 };
  }

  #beginAtTail(one: FollowedPartition, tail: Tail | undefined): void {
    if (tail === undefined) return;
    one.foreign += tail.foreign;
    one.begin(tail.last ?? this.#beginning(one), tail.endOffset);
  }

  /**
   * The log is not what it was expected to be at our offset. What is missing may stand further back (where two relays sent at once,
   * the last record need not be the highest), or the log was cut or made anew: it is read again from further and further back,
   * and what was followed before is recognized by its position. Only what is not found then is missing on Kafka itself.
   */
  async #findAgain(one: FollowedPartition, lost: 'gap' | 'out_of_range'): Promise<void> {
    const { link, log } = this.#parts;
    const offset = one.offset ?? 0;
    const where = { part: 'follower', partition: one.partition, position: one.position, offset };
    const earliest = (await link.offsets([one.partition], 'earliest')).get(one.partition) ?? 0;
    one.lost = undefined;
    if (lost === 'out_of_range') {
      log.error(
        where,
        'the offset is out of range: the log on Kafka was cut or made anew; reading it from its beginning',
      );
      one.rewound = Number.POSITIVE_INFINITY;
      one.offset = earliest;
    } else if (one.rewound === Number.POSITIVE_INFINITY) {
      log.error(where, 'events behind this position are missing on Kafka: waiting until the relay sends them again');
      one.gapKnownUntil = performance.now() + GAP_LOOK_MS;
      one.rewound = 0;
    } else {
      one.rewound = one.rewound === 0 ? REWIND_MIN : one.rewound * 16;
      if (offset - one.rewound <= earliest) one.rewound = Number.POSITIVE_INFINITY;
      one.offset = Math.max(earliest, offset - one.rewound);
      log.warn({ ...where, from: one.offset }, 'the log on Kafka jumps ahead behind this position: reading it again');
    }
  }

  /** Reads from every broker until something has to be looked into. */
  async #readRound(onSuccess: () => void): Promise<void> {
    const { link, complaints } = this.#parts;
    const active = this.#active();
    if (active.length === 0) return this.#alarm.wait(RETRY_MAX_MS);
    const leaders = await link.leaders(active.map(({ partition }) => partition));
    const led = new Set([...leaders.values()].flat());
    const without = active.find(({ partition }) => !led.has(partition));
    if (without !== undefined) throw new KafkaError('topic_missing', `Kafka has no partition ${without.partition}.`);
    const round = { over: false };
    const readers = [...leaders].map(async ([node, numbers]) => {
      try {
        while (!round.over && !this.#isClosing()) {
          const began = performance.now();
          if (await this.#readOnce(node, new Set(numbers))) round.over = true;
          onSuccess();
          complaints.settled('read');
          await this.#gather(PACE_MS - (performance.now() - began));
        }
      } finally {
        round.over = true;
      }
    });
    // All of them end before anything else is asked of these connections.
    const ends = await Promise.allSettled(readers);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  async #gather(ms: number): Promise<void> {
    if (ms <= 0 || this.#parts.isUrgent() || this.#isClosing()) return;
    const alarm = new Alarm();
    this.#gathering.add(alarm);
    await alarm.wait(ms);
    this.#gathering.delete(alarm);
  }

  /** One fetch from one broker. True when a partition has to be looked into. */
  async #readOnce(node: string, numbers: ReadonlySet<number>): Promise<boolean> {
    const { link, isFull } = this.#parts;
    const from = new Map<number, number>();
    for (const one of this.#active())
      if (numbers.has(one.partition) && one.offset !== undefined && !isFull(one.partition) && !this.#isToldOf(one))
        from.set(one.partition, one.offset);
    if (from.size === 0) {
      await this.#alarm.wait(NOTHING_TO_READ_MS);
      return this.#active().length === 0;
    }
    for (const fetched of await link.fetch(node, from, FETCH)) {
      const one = this.#byNumber.get(fetched.partition);
      // Meanwhile it may have been told of what this fetch brought.
      if (one !== undefined && one.offset === from.get(fetched.partition)) this.#take(one, fetched);
    }
    return this.#active().some(({ lost }) => lost !== undefined);
  }

  /**
   * Takes what this process has just had acknowledged, its first record at `baseOffset`, as if it had been read. What does not
   * follow on what was read is left to the next fetch.
   */
  takeSent(partition: number, batch: readonly LogMessage[], baseOffset: number): void {
    const { isFull, onNext } = this.#parts;
    const one = this.#byNumber.get(partition);
    if (one?.offset !== baseOffset || one.stopped !== undefined || one.lost !== undefined || isFull(partition)) return;
    const next: LogMessage[] = [];
    const whole = batch.every((message) => {
      const verdict = one.take(message);
      if (verdict === 'next') next.push(message);
      return verdict === 'next' || verdict === 'repeated';
    });
    if (whole) one.offset = baseOffset + batch.length;
    if (next.length > 0) onNext(partition, next);
  }

  /** True when there is nothing to read that it is not told of. */
  #isToldOf({ partition, offset }: FollowedPartition): boolean {
    return offset !== undefined && offset >= (this.#parts.relayedTo(partition) ?? Number.POSITIVE_INFINITY);
  }

  #take(one: FollowedPartition, { records, nextOffset, fault }: Fetched): void {
    const { ledger, onNext } = this.#parts;
    if (fault?.code === 'out_of_range') {
      one.lost = 'out_of_range';
      return;
    }
    if (fault !== undefined) return this.#stop(one, reasonOf(fault));
    const next: LogMessage[] = [];
    one.offset = nextOffset;
    for (const { offset, value } of records) {
      const read = readRecord({ value }, ledger, one.partition);
      const verdict = read.kind === 'foreign' ? 'foreign' : one.take(read.message);
      if (read.kind === 'event' && verdict === 'next') next.push(read.message);
      if (verdict === 'foreign') this.#leaveOut(one, offset, read.kind === 'foreign' ? read.why : '');
      if (verdict === 'replaced') this.#leaveOut(one, offset, 'it is of an incarnation that is over');
      if (verdict === 'forked') {
        this.#stop(one, `the event at offset ${offset} contradicts the log up to position ${one.position}: a fork`);
        break;
      }
      if (verdict === 'gap' && one.gapKnownUntil < performance.now()) {
        one.lost = 'gap';
        one.offset = offset;
        break;
      }
    }
    if (next.length > 0) onNext(one.partition, next);
  }

  #leaveOut(one: FollowedPartition, offset: number, why: string): void {
    if (one.foreign++ > 0) return;
    this.#parts.log.warn({ part: 'follower', partition: one.partition, offset }, `left out a record: ${why}`);
  }

  #stop(one: FollowedPartition, why: string): void {
    this.#parts.log.error({ part: 'follower', partition: one.partition }, `stopped following: ${why}`);
    one.stop(why);
  }
}
