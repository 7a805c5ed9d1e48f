import type { KafkaLog } from './client.js';
import { Complaints } from './complaints.js';
import { KafkaError } from './errors.js';
import type { KafkaLink } from './link.js';
import type { RelayParts, SendContext } from './relay-context.js';
import { RelayedPartition } from './relay-partition.js';
import { sendNext } from './relay-send.js';

export interface LogSenderParts {
  readonly link: KafkaLink;
  readonly log: KafkaLog;
  readonly ledger: string;
  readonly reader: RelayParts['reader'];
  /** Told how many events were acknowledged. */
  readonly onSent: (events: number) => void;
  readonly signal?: AbortSignal;
}

/** What a partition has, and up to where the journal's events are to be sent behind it. */
export interface SendFrom {
  readonly partition: number;
  readonly position: number;
  readonly hash: string;
  readonly incarnation: number;
  readonly endOffset: number;
  readonly head: number;
}

/** Sends once, as the relay does, what the journal has and a consumer of the topic would not get. */
export class LogSender {
  readonly #parts: LogSenderParts;
  #halted: string | undefined;

  constructor(parts: LogSenderParts) {
    this.#parts = parts;
  }

  /**
   * Sends partitions up to their heads; stops early in one to which somebody else writes at the same time: look at the topic again,
   * and send what is still missing. Raises KafkaError when a batch was not acknowledged, or can't be.
   */
  async send(wishes: readonly SendFrom[]): Promise<void> {
    const context = this.#context();
    const open = wishes.map((wish) => {
      const one = new RelayedPartition(wish.partition, this.#parts.ledger);
      one.phase = 'relaying';
      const { partition, position, hash, incarnation, endOffset } = wish;
      const last = position === 0 ? undefined : { position, hash, incarnation, body: '', prevHash: '' };
      one.resumeFrom({ partition, last, endOffset, foreign: 0 });
      one.noteHead(wish.head, Date.now());
      return one;
    });
    for (;;) {
      const due = open.filter((one) => one.pending);
      if (due.length === 0) return;
      if (this.#parts.signal?.aborted === true) throw new KafkaError('closed', 'Sending was given up.');
      const leaders = await this.#parts.link.leaders(due.map(({ partition }) => partition));
      for (const [node, numbers] of leaders) {
        const chosen = due.filter(({ partition }) => numbers.includes(partition));
        await sendNext(context, node, chosen);
        this.#complain(chosen);
      }
    }
  }

  #complain(chosen: readonly RelayedPartition[]): void {
    const why = this.#halted ?? chosen.find((one) => one.why !== undefined)?.why;
    if (why !== undefined) throw new KafkaError('unreachable', `Kafka did not take all of it: ${why}`);
  }

  #context(): SendContext {
    const { link, log, reader, onSent } = this.#parts;
    return {
      parts: { log, reader, onSent: (_partition, batch) => onSent(batch.length) },
      link,
      complaints: new Complaints(log, 'relay'),
      halt: (one, why) => {
        this.#halted = `partition ${one.partition.toString()}: ${why}`;
        return Promise.resolve();
      },
    };
  }
}
