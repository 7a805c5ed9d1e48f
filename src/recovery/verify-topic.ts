import type { JournalReader } from '../core/ports.js';
import { Findings } from './finding.js';

/** A message of the log as it was found on Kafka: its body and hashes, taken apart but not yet believed. */
export interface TopicMessage {
  readonly position: number;
  readonly hash: string;
  readonly body: string;
}

/**
 * Holds Kafka's copy of one partition to the journal: every message is the journal's event at its position, byte for byte,
 * and together they are a prefix of it. Duplicates are counted; consumers drop them by position.
 */
export class TopicWalk {
  readonly findings = new Findings();
  /** The highest position up to which nothing is missing. */
  position = 0;
  duplicates = 0;
  foreign = 0;

  constructor(
    private readonly partition: number,
    private readonly reader: Pick<JournalReader, 'read'>,
  ) {}

  /** Takes the next messages in Kafka's order. Raises UnavailableError when the journal can't be asked. */
  async take(messages: readonly TopicMessage[]): Promise<void> {
    const lowest = Math.min(...messages.map((message) => message.position));
    const journal = new Map<number, TopicMessage>();
    const highest = Math.max(...messages.map((message) => message.position));
    for (let after = lowest - 1; after < highest;) {
      const events = await this.reader.read(this.partition, after, highest - after);
      if (events.length === 0) break;
      for (const { event, hash, body } of events) {
        journal.set(event.position, { position: event.position, hash, body });
        after = event.position;
      }
    }
    for (const message of messages) this.compare(message, journal.get(message.position));
  }

  private compare(message: TopicMessage, journal: TopicMessage | undefined): void {
    const { position } = message;
    const at = { where: 'kafka', partition: this.partition, position } as const;
    if (journal === undefined) this.findings.add({ ...at, what: 'Kafka has an event that the journal has not' });
    else if (message.hash !== journal.hash || message.body !== journal.body)
      this.findings.add({ ...at, what: 'the event on Kafka is not the one in the journal' });
    if (position <= this.position) this.duplicates += 1;
    else {
      if (position > this.position + 1)
        this.findings.add({
          ...at,
          what: `positions ${(this.position + 1).toString()} to ${(position - 1).toString()} are missing before it`,
        });
      this.position = position;
    }
  }
}
