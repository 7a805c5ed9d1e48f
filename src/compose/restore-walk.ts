import { genesisHash } from '../../events/index.js';
import type { Head } from '../core/ports.js';
import { FollowedPartition } from '../kafka/index.js';
import type { LogMessage } from '../kafka/index.js';

/** A log can't be restored from: what is wrong with it, in words. Nothing was written. */
export class RestoreRefusedError extends Error {
  override readonly name = 'RestoreRefusedError';
}

/** Where a partition is followed from. */
export interface WalkStart extends Head {
  /** Of the event at the head. */
  readonly incarnation: number;
}

/** Position 0 of a partition. */
export const beginning = (ledger: string, partition: number): WalkStart => ({
  partition,
  position: 0,
  hash: genesisHash(ledger, partition),
  incarnation: 0,
});

/** One partition of Kafka's log as a consumer reads it who takes only what follows on. Memory does not grow with the log. */
export class LogWalk {
  readonly #followed: FollowedPartition;
  /** The highest position that stands on Kafka, whether it follows on or not. */
  highest = 0;
  /** The last event at or before the start: the journal must have the same. */
  known: Pick<LogMessage, 'position' | 'hash'> | undefined;
  /** Position of the first event that contradicts the one before it, unless one came later that does not. */
  forkedAt: number | undefined;

  constructor(readonly start: WalkStart) {
    this.#followed = new FollowedPartition(start.partition);
    this.#followed.begin(start, 0);
  }

  get position(): number {
    return this.#followed.position;
  }

  get hash(): string {
    return this.#followed.hash;
  }

  get incarnation(): number {
    return this.#followed.incarnation;
  }

  /** Events that follow on the start. */
  get events(): number {
    return this.position - this.start.position;
  }

  /** Those of the messages that follow on; all others are passed over. */
  take(messages: readonly LogMessage[]): LogMessage[] {
    return messages.filter((message) => {
      const { position, hash } = message;
      if (position <= this.start.position && position >= (this.known?.position ?? 0)) this.known = { position, hash };
      const verdict = this.#followed.take(message);
      if (verdict !== 'replaced') this.highest = Math.max(this.highest, position);
      if (verdict === 'forked' && position > this.start.position) this.forkedAt ??= position;
      return verdict === 'next';
    });
  }
}
