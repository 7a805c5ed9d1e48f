import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredEvent } from '../../events/index.js';
import type { Elected } from '../core/ports.js';
import { Alarm } from './alarm.js';
import { Complaints } from './complaints.js';
import { reasonOf } from './errors.js';
import { KafkaLink } from './link.js';
import type { RelayContext, RelayParts } from './relay-context.js';
import { BATCH_EVENTS_MAX, RelayedPartition } from './relay-partition.js';
import type { RelayStatus } from './relay-partition.js';
import { resumeFromKafka } from './relay-resume.js';
import { sendNext } from './relay-send.js';

export type { RelayParts } from './relay-context.js';
export type { RelayPhase, RelayStatus } from './relay-partition.js';

const OFFICE = 'relay';
const ELECTION_INTERVAL_MS = 2_000;
/** How often the heads are looked at, ms: at most while there is work, at least while there is none. */
const POLL_MIN_MS = 20;
const POLL_MAX_MS = 250;
/**
 * From one request to a broker to the next, ms. A batch costs about as much for one event as for ten, so what comes within this
 * time goes together. The shorter one holds while commands of this process wait for Kafka: it is the most that it adds to them.
 */
const PACE_MS = 40;
const URGENT_PACE_MS = 10;
const BEHIND_PAUSE_MAX_MS = 500;
/** How long a partition that was stopped is left alone, ms. */
const STOPPED_MS = 30_000;
const STOP_GRACE_MS = 300;

/**
 * Sends the journal to Kafka: each partition's events in order, to the Kafka partition of the same number, acknowledged by
 * all in-sync replicas, one batch at a time. It keeps no cursor: it goes on behind the last event that Kafka holds, and after any
 * failure looks there again, so what is repeated is a stretch that stands there already, and nothing is left out. One process
 * is elected for each partition; should two send, every position still comes first in order.
 */
export class Relay {
  readonly #context: RelayContext;
  readonly #all: readonly RelayedPartition[];
  readonly #byNumber: ReadonlyMap<number, RelayedPartition>;
  readonly #tasks = new Set<Promise<void>>();
  /** Brokers with a request under way, or so lately that the next one waits a little. */
  readonly #lanes = new Map<string, Alarm>();
  /** By partition: the broker that it was last sent to. */
  readonly #leaderOf = new Map<number, string>();
  readonly #pollAlarm = new Alarm();
  readonly #electionAlarm = new Alarm();
  #stopping: Promise<void> | undefined;
  #dispatching = false;
  #resuming = false;
  #pollMs = POLL_MIN_MS;
  #turn = 0;

  constructor(parts: RelayParts) {
    this.#context = {
      parts,
      link: new KafkaLink(parts.settings, parts.log),
      complaints: new Complaints(parts.log, 'relay'),
      halt: (one, why) => this.#halt(one, why),
    };
    this.#all = parts.partitions.map((partition) => new RelayedPartition(partition, parts.ledger));
    this.#byNumber = new Map(this.#all.map((one) => [one.partition, one]));
  }

  /** Begins in the background. Nothing that is away keeps it from starting. */
  start(): void {
    this.#run(this.#repeatElections());
    this.#run(this.#pollHeads());
  }

  /** Told of what this process commits (OnCommitted): it is sent without reading it back, when it follows on what was sent. */
  committed(partition: number, events: readonly StoredEvent[]): void {
    const one = this.#byNumber.get(partition);
    if (one?.phase !== 'relaying') return;
    one.offer(events, Date.now());
    // Where a request is under way, the next one takes it along.
    if (!this.#lanes.has(this.#leaderOf.get(partition) ?? '')) this.#pump();
  }

  /** Something was committed to the partition: look now, not at the next poll. */
  wake(partition: number): void {
    if (this.#byNumber.get(partition)?.elected === undefined) return;
    this.#hurry();
  }

  /** A command waits until Kafka has what was committed: gather no longer than must be. */
  urge(): void {
    for (const lane of this.#lanes.values()) lane.ring();
  }

  /** The offset behind the last record that this process sent or found; undefined while it does not relay the partition. */
  relayedTo(partition: number): number | undefined {
    return this.#byNumber.get(partition)?.end?.offset;
  }

  /** How each partition is doing, for metrics and readiness. */
  status(): RelayStatus[] {
    const nowMs = Date.now();
    return this.#all.map((one) => one.status(nowMs));
  }

  /** Takes no more, gives the offices back and closes the connections; within a second, whatever the services do. */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#pollAlarm.ring();
    this.#electionAlarm.ring();
    this.urge();
    await Promise.race([Promise.allSettled(this.#tasks), sleep(STOP_GRACE_MS, undefined, { ref: false })]);
    const offices = this.#all.flatMap(({ elected }) => elected?.release() ?? []);
    for (const one of this.#all) one.standBy();
    const released = Promise.race([Promise.allSettled(offices), sleep(STOP_GRACE_MS, undefined, { ref: false })]);
    await Promise.all([released, this.#context.link.close()]);
  }

  /** A method, since it changes while a loop waits. */
  #isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  #run(work: Promise<void>): void {
    const task = work
      .catch((error: unknown) => this.#context.complaints.say('fault', error))
      .finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
  }

  #hurry(): void {
    this.#pollMs = POLL_MIN_MS;
    this.#pollAlarm.ring();
  }

  async #repeatElections(): Promise<void> {
    const { complaints, parts } = this.#context;
    while (!this.#isStopping()) {
      try {
        for (const one of this.#all) if (!this.#isStopping()) await this.#standFor(one);
      } catch (error) {
        complaints.say('election', error);
      }
      this.#hurry();
      await this.#electionAlarm.wait((parts.electionIntervalMs ?? ELECTION_INTERVAL_MS) * (0.8 + Math.random() * 0.4));
    }
  }

  async #standFor(one: RelayedPartition): Promise<void> {
    if (one.elected !== undefined || one.notBefore > performance.now()) return;
    const elected: Elected | undefined = await this.#context.parts.elections.tryElect(OFFICE, one.partition);
    if (elected === undefined) return;
    if (this.#isStopping()) return elected.release();
    one.lead(elected);
    elected.signal.addEventListener('abort', () => {
      if (one.elected === elected) one.standBy();
    });
  }

  async #pollHeads(): Promise<void> {
    while (!this.#isStopping()) {
      try {
        const news = await this.#readHeads();
        this.#pollMs = news ? POLL_MIN_MS : Math.min(this.#pollMs * 1.5, POLL_MAX_MS);
        this.#context.complaints.settled('heads');
      } catch (error) {
        this.#context.complaints.say('heads', error);
        this.#pollMs = POLL_MAX_MS;
      }
      this.#pump();
      await this.#pollAlarm.wait(this.#pollMs);
    }
  }

  /** True when the journal has something new. */
  async #readHeads(): Promise<boolean> {
    const led = this.#all.filter((one) => one.elected !== undefined);
    if (led.length === 0) return false;
    const ends = new Map(led.map((one) => [one.partition, one.end?.position ?? 0]));
    let news = false;
    for (const { partition, position } of await this.#context.parts.reader.heads([...ends.keys()])) {
      const one = this.#byNumber.get(partition);
      const end = ends.get(partition) ?? 0;
      one?.noteHead(position, Date.now());
      news ||= position > end;
      // The journal had less than Kafka when it was asked: it went back. To be judged where the two are compared.
      if (position < end && one?.busy === false) one.resume();
    }
    return news;
  }

  /** Begins whatever can be begun now. */
  #pump(): void {
    if (this.#isStopping()) return;
    const due = this.#due();
    const lost = due.filter((one) => one.phase === 'resuming');
    if (lost.length > 0 && !this.#resuming) {
      this.#resuming = true;
      const resumed = resumeFromKafka(this.#context, lost).finally(() => {
        this.#resuming = false;
        this.#hurry();
      });
      this.#run(resumed);
    }
    const ready = due.filter((one) => one.phase === 'relaying' && one.pending);
    if (this.#dispatching || ready.length === 0) return;
    this.#dispatching = true;
    this.#run(this.#dispatch(ready).finally(() => (this.#dispatching = false)));
  }

  #due(): RelayedPartition[] {
    const now = performance.now();
    return this.#all.filter((one) => one.elected !== undefined && !one.busy && one.notBefore <= now);
  }

  /** Hands what waits to each broker that has nothing of ours under way. */
  async #dispatch(ready: readonly RelayedPartition[]): Promise<void> {
    // Who was left out for want of room comes first the next time.
    const turn = this.#turn++ % ready.length;
    const inTurn = [...ready.slice(turn), ...ready.slice(0, turn)].map(({ partition }) => partition);
    try {
      const leaders = await this.#context.link.leaders(inTurn);
      const led = new Set([...leaders.values()].flat());
      if (led.size < ready.length)
        this.#failed(
          ready.filter(({ partition }) => !led.has(partition)),
          'Kafka knows no leader',
        );
      for (const [node, partitions] of leaders) this.#sendTo(node, partitions);
    } catch (error) {
      this.#failed(ready, reasonOf(error));
    }
  }

  #sendTo(node: string, partitions: readonly number[]): void {
    if (this.#lanes.has(node)) return;
    const lane = new Alarm();
    this.#lanes.set(node, lane);
    for (const partition of partitions) this.#leaderOf.set(partition, node);
    const chosen = partitions.flatMap((partition) => this.#byNumber.get(partition) ?? []);
    const began = performance.now();
    const sent = sendNext(this.#context, node, chosen)
      .then(() => this.#pause(lane, performance.now() - began, chosen))
      .finally(() => {
        this.#lanes.delete(node);
        this.#pump();
      });
    this.#run(sent);
  }

  /** Lets events gather for the next request; far behind, it only leaves the process as much time as the last one took. */
  async #pause(lane: Alarm, tookMs: number, chosen: readonly RelayedPartition[]): Promise<void> {
    if (this.#isStopping()) return;
    const behind = chosen.some((one) => one.missing > BATCH_EVENTS_MAX / 2);
    if (behind) return sleep(Math.min(tookMs, BEHIND_PAUSE_MAX_MS));
    await lane.wait(Math.max(0, PACE_MS - tookMs));
    const restMs = URGENT_PACE_MS - tookMs;
    if (restMs > 0 && !this.#isStopping()) await sleep(restMs);
  }

  #failed(some: readonly RelayedPartition[], why: string): void {
    this.#context.complaints.say('send', why);
    for (const one of some) one.failed(why, performance.now());
  }

  async #halt(one: RelayedPartition, why: string): Promise<void> {
    this.#context.parts.log.error({ part: 'relay', partition: one.partition }, `stopped relaying: ${why}`);
    const { elected } = one;
    one.stop(why);
    one.notBefore = performance.now() + STOPPED_MS;
    one.elected = undefined;
    await elected?.release();
  }
}
