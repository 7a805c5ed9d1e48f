import type { LogMessage } from './message.js';

/** How many of the last events are remembered by hash, for commands that ask late. */
const RECENT_MAX = 1_024;

/**
 * next: it follows on the last one; repeated: it was here before; gap: something between the two is missing;
 * forked: it contradicts what was here before; replaced: it does too, and comes from an incarnation that is over.
 */
export type Verdict = 'next' | 'repeated' | 'gap' | 'forked' | 'replaced';

/** What a waiter learns: the hash that Kafka has at its position; `passed`, when that is behind what is remembered; or why it won't come. */
export type Arrival =
  | { readonly kind: 'arrived'; readonly hash: string }
  | { readonly kind: 'passed' }
  | { readonly kind: 'too_late' }
  | { readonly kind: 'stopped'; readonly why: string };

type Tell = (arrival: Arrival) => void;

/** One partition of the log on Kafka as far as it was followed. It takes only what chains on, whatever order things come in. */
export class FollowedPartition {
  /** Where to read on; undefined until the end of the log is known. */
  offset: number | undefined;
  position = 0;
  hash = '';
  incarnation = 0;
  /** Records that are none of this ledger's, since the start. */
  foreign = 0;
  /** Records that had been here before, since the start. */
  repeated = 0;
  /** Up to here the log on Kafka is known to be the journal's. */
  agreed = 0;
  /** Why it is to look for its place again, before it reads on. */
  lost: 'gap' | 'out_of_range' | undefined;
  /** How many records before a gap were read again in search of what is missing; all of them, at the end. */
  rewound = 0;
  /** Events are missing on Kafka itself: not to be looked into again before this time, ms on the monotonic clock. */
  gapKnownUntil = 0;
  #stopped: string | undefined;
  readonly #recent = new Map<number, string>();
  readonly #waiting = new Map<number, Set<Tell>>();

  constructor(readonly partition: number) {}

  get ready(): boolean {
    return this.offset !== undefined;
  }

  get stopped(): string | undefined {
    return this.#stopped;
  }

  /** Begins behind an event that Kafka holds (position 0: at the beginning). */
  begin(at: Pick<LogMessage, 'position' | 'hash' | 'incarnation'>, offset: number): void {
    this.position = at.position;
    this.hash = at.hash;
    this.incarnation = at.incarnation;
    this.offset = offset;
    this.#remember(at.position, at.hash);
    for (const position of [...this.#waiting.keys()])
      if (position <= at.position) this.#tell(position, this.find(position));
  }

  /** Judges an event, and moves on to it if it is the next one. */
  take({ position, prevHash, hash, incarnation }: LogMessage): Verdict {
    const contradiction = incarnation < this.incarnation ? 'replaced' : 'forked';
    if (position <= this.position) {
      const known = this.#recent.get(position);
      if (known !== undefined && known !== hash) return contradiction;
      this.repeated++;
      return 'repeated';
    }
    if (incarnation < this.incarnation) return 'replaced';
    if (position > this.position + 1) return 'gap';
    if (prevHash !== this.hash) return contradiction;
    this.rewound = 0;
    this.gapKnownUntil = 0;
    this.position = position;
    this.hash = hash;
    this.incarnation = incarnation;
    this.#remember(position, hash);
    this.#tell(position, { kind: 'arrived', hash });
    return 'next';
  }

  /** Goes no further; whoever waits is told why. */
  stop(why: string): void {
    this.#stopped = why;
    for (const position of [...this.#waiting.keys()]) this.#tell(position, { kind: 'stopped', why });
  }

  /** What is known of a position that has been passed. */
  find(position: number): Arrival {
    const hash = this.#recent.get(position);
    return hash === undefined ? { kind: 'passed' } : { kind: 'arrived', hash };
  }

  /** Waits until the position comes, at most `timeoutMs`. */
  async arrival(position: number, timeoutMs: number): Promise<Arrival> {
    if (this.#stopped !== undefined) return { kind: 'stopped', why: this.#stopped };
    if (this.ready && position <= this.position) return this.find(position);
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(position) ?? new Set();
      this.#waiting.set(position, waiting);
      const timer = setTimeout(() => {
        waiting.delete(tell);
        if (waiting.size === 0 && this.#waiting.get(position) === waiting) this.#waiting.delete(position);
        resolve({ kind: 'too_late' });
      }, timeoutMs);
      const tell: Tell = (arrival) => {
        clearTimeout(timer);
        resolve(arrival);
      };
      waiting.add(tell);
    });
  }

  #tell(position: number, arrival: Arrival): void {
    const waiting = this.#waiting.get(position);
    if (waiting === undefined) return;
    this.#waiting.delete(position);
    for (const tell of waiting) tell(arrival);
  }

  #remember(position: number, hash: string): void {
    this.#recent.set(position, hash);
    if (this.#recent.size <= RECENT_MAX) return;
    const [oldest] = this.#recent.keys();
    if (oldest !== undefined) this.#recent.delete(oldest);
  }
}
