import { genesisHash } from '../../events/index.js';
import type { SealedEvent } from '../../events/index.js';
import type { Elected } from '../core/ports.js';
import type { Tail } from './tail.js';

/**
 * standby: another process relays it, or nobody could be elected yet;
 * resuming: elected, and about to look where Kafka's log ends;
 * relaying: what the journal has beyond that is being sent;
 * stopped: what Kafka holds does not go with the journal; it is looked at again from time to time.
 */
export type RelayPhase = 'standby' | 'resuming' | 'relaying' | 'stopped';

/** How the relay of one partition is doing, as this process knows it. */
export interface RelayStatus {
  readonly partition: number;
  readonly phase: RelayPhase;
  /** In words: what keeps it from relaying. */
  readonly why?: string;
  /** The last position that is known to stand on Kafka; absent while this process does not relay. */
  readonly position?: number;
  /** Events in the journal that Kafka does not have yet; absent while that is not known here. */
  readonly lagEvents?: number;
  /** How long the oldest of them has waited, s. */
  readonly lagSeconds?: number;
}

/** Most events, and most bytes of values, in one batch. */
export const BATCH_EVENTS_MAX = 500;
const BATCH_BYTES_MAX = 700_000;
/** Most events kept from commits of this process; beyond them the journal is read. */
const QUEUE_MAX = 500;
/** The two hashes and headers that a message has besides its body, about. */
const MESSAGE_EXTRA_BYTES = 320;

const bytesOf = ({ body }: SealedEvent): number => Buffer.byteLength(body) + MESSAGE_EXTRA_BYTES;

/** What came of a batch: appended where expected, behind records of somebody else, or in place of acknowledged ones that are gone. */
export type Landing = 'as_expected' | 'others_wrote' | 'records_lost';

interface End {
  readonly position: number;
  readonly hash: string;
  /** The offset that the next record is expected to get. */
  readonly offset: number;
}

/** What is known of one partition by the process that relays it. No input or output here. */
export class RelayedPartition {
  phase: RelayPhase = 'standby';
  why: string | undefined;
  elected: Elected | undefined;
  /** A request about it is under way. */
  busy = false;
  /** Not to be tried again before this time, ms on the monotonic clock. */
  notBefore = 0;
  /** Where to look for the end of what is ours, when records behind it are known to have a hole before them. */
  searchBefore: number | undefined;
  #failures = 0;
  #end: End | undefined;
  #head = 0;
  #queue: SealedEvent[] = [];
  /** The last position of the batch under way. */
  #sending: number | undefined;
  #batchBytesMax = BATCH_BYTES_MAX;
  #waitingSinceMs: number | undefined;

  constructor(
    readonly partition: number,
    private readonly ledger: string,
  ) {}

  get end(): End | undefined {
    return this.#end;
  }

  get queued(): number {
    return this.#queue.length;
  }

  lead(elected: Elected): void {
    this.elected = elected;
    this.phase = 'resuming';
    this.why = undefined;
    this.notBefore = 0;
    this.#batchBytesMax = BATCH_BYTES_MAX;
    this.#forget();
  }

  standBy(): void {
    this.elected = undefined;
    if (this.phase !== 'stopped') this.phase = 'standby';
    this.#forget();
  }

  stop(why: string): void {
    this.phase = 'stopped';
    this.why = why;
    this.#forget();
  }

  /** What was sent may have arrived or not: look at Kafka again before anything else is sent. */
  resume(): void {
    if (this.phase === 'relaying') this.phase = 'resuming';
    this.#forget();
  }

  /** Tries again later: 50 ms after the first failure, doubling up to 5 s. */
  failed(why: string, now: number): void {
    this.why = why;
    this.notBefore = now + Math.min(50 * 2 ** this.#failures, 5_000);
    this.#failures++;
  }

  /** Kafka's end is known and is the journal's. */
  resumeFrom({ last, endOffset }: Tail): void {
    const hash = last?.hash ?? genesisHash(this.ledger, this.partition);
    this.#end = { position: last?.position ?? 0, hash, offset: endOffset };
    this.phase = 'relaying';
    this.why = undefined;
    this.searchBefore = undefined;
    if (this.#head <= this.#end.position) this.#waitingSinceMs = undefined;
  }

  /** The journal goes up to `position` at least. */
  noteHead(position: number, nowMs: number): void {
    this.#head = Math.max(this.#head, position);
    if (this.#end !== undefined && this.#head > this.#end.position) this.#waitingSinceMs ??= nowMs;
  }

  /** Takes events that this process has committed, if they follow on what is here; else they are read from the journal. */
  offer(events: readonly SealedEvent[], nowMs: number): void {
    this.noteHead(events.at(-1)?.event.position ?? 0, nowMs);
    if (this.#end === undefined || this.#queue.length + events.length > QUEUE_MAX) return;
    this.fill(events);
  }

  /** Queues what follows on what is queued, under way or sent, and leaves out the rest. */
  fill(events: readonly SealedEvent[]): void {
    let next = (this.#queue.at(-1)?.event.position ?? this.#sending ?? this.#end?.position ?? 0) + 1;
    for (const stored of events) {
      if (stored.event.position !== next) continue;
      this.#queue.push(stored);
      next++;
    }
    this.#waitingSinceMs = this.#queue[0]?.event.timeMs ?? this.#waitingSinceMs;
  }

  /** The journal had nothing behind the end after all. */
  caughtUp(): void {
    this.#head = this.#end?.position ?? 0;
    this.#waitingSinceMs = undefined;
  }

  /** True when the journal has something that Kafka has not, as far as is known. */
  get pending(): boolean {
    return this.missing > 0;
  }

  /** How many events the journal has that Kafka has not, as far as is known. */
  get missing(): number {
    return this.#end === undefined ? 0 : Math.max(0, this.#head - this.#end.position);
  }

  /** Takes the next batch off the queue. Undefined when what is queued does not chain to the end: then nothing may be sent. */
  cut(): readonly SealedEvent[] | undefined {
    if (this.#queue[0] !== undefined && this.#queue[0].prevHash !== this.#end?.hash) return undefined;
    let bytes = 0;
    let count = 0;
    for (const stored of this.#queue) {
      bytes += bytesOf(stored);
      if (count > 0 && (bytes > this.#batchBytesMax || count >= BATCH_EVENTS_MAX)) break;
      count++;
    }
    const batch = this.#queue.splice(0, count);
    this.#sending = batch.at(-1)?.event.position;
    return batch;
  }

  /** The topic takes less than it did: the next batches are at most half as large as this one, which it did not take. */
  shrink(batch: readonly SealedEvent[]): void {
    this.#batchBytesMax = batch.reduce((sum, one) => sum + bytesOf(one), 0) / 2;
  }

  /** A batch was acknowledged, its first record at `baseOffset`. */
  sent(batch: readonly SealedEvent[], baseOffset: number): Landing {
    const last = batch.at(-1);
    const expected = this.#end?.offset;
    if (last === undefined || expected === undefined) return 'others_wrote';
    this.#failures = 0;
    this.why = undefined;
    this.#sending = undefined;
    if (baseOffset < expected) return 'records_lost';
    this.#end = { position: last.event.position, hash: last.hash, offset: baseOffset + batch.length };
    if (!this.pending) this.#waitingSinceMs = undefined;
    else this.#waitingSinceMs = this.#queue[0]?.event.timeMs ?? this.#waitingSinceMs;
    return baseOffset === expected ? 'as_expected' : 'others_wrote';
  }

  status(nowMs: number): RelayStatus {
    const { partition, phase, why } = this;
    const words = why === undefined ? {} : { why };
    if (this.#end === undefined) return { partition, phase, ...words };
    const lagEvents = this.missing;
    const waitedMs = lagEvents === 0 ? 0 : Math.max(0, nowMs - (this.#waitingSinceMs ?? nowMs));
    return { partition, phase, ...words, position: this.#end.position, lagEvents, lagSeconds: waitedMs / 1000 };
  }

  #forget(): void {
    this.#queue = [];
    this.#end = undefined;
    this.#sending = undefined;
  }
}
