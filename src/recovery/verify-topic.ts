import type { EventRow } from '../core/audit.js';
import { FINDINGS_MAX, Findings } from './finding.js';
import type { Finding } from './finding.js';

/** A message of the log as it was found on Kafka: its body and hashes, taken apart but not yet believed. */
export interface TopicMessage {
  readonly position: number;
  readonly hash: string;
  readonly body: string;
}

/** Gives the journal's rows at given positions of a partition, as they are; absent where there is none. */
export type RowsAt = (partition: number, positions: readonly number[]) => Promise<readonly EventRow[]>;

/**
 * Holds Kafka's copy of one partition to the journal: every message is the journal's event at its position, byte for byte,
 * and together they are a prefix of it. Duplicates are counted; consumers drop them by position.
 */
export class TopicWalk {
  readonly findings = new Findings();
  /** The first few of the duplicates: no drift, but of interest. */
  readonly notes: Finding[] = [];
  /** The highest position up to which nothing is missing, or was found missing already. */
  position = 0;
  events = 0;
  duplicates = 0;
  foreign = 0;
  /** What was found missing: should it come later, it is out of order. */
  private readonly gaps: { readonly from: number; readonly to: number }[] = [];
  /** It may be what is missing: told with the next gap. */
  private lastForeign: string | undefined;

  constructor(
    private readonly partition: number,
    private readonly rowsAt: RowsAt,
  ) {}

  /** Takes note of a record that is no event of this ledger, or a damaged one. */
  noteForeign(offset: number, why: string): void {
    this.foreign += 1;
    this.lastForeign = `the record at offset ${offset.toString()} does not count: ${why}`;
  }

  /** Takes the next messages in Kafka's order. Raises UnavailableError when the journal can't be asked. */
  async take(messages: readonly TopicMessage[]): Promise<void> {
    const positions = [...new Set(messages.map(({ position }) => position))];
    const journal = new Map((await this.rowsAt(this.partition, positions)).map((row) => [row.position, row]));
    for (const message of messages) this.compare(message, journal.get(message.position));
    this.events += messages.length;
  }

  /** Positions that are missing at the end: Kafka has nothing up to there. */
  missUpTo(head: number): void {
    if (this.position < head) this.miss(this.position + 1, head, 'not on Kafka');
  }

  private compare(message: TopicMessage, journal: EventRow | undefined): void {
    const { position } = message;
    if (journal === undefined) this.find(position, 'Kafka has an event that the journal has not');
    else if (message.hash !== journal.hash || message.body !== journal.body)
      this.find(position, 'the event on Kafka is not the one in the journal');
    if (position > this.position) {
      if (position > this.position + 1)
        this.miss(this.position + 1, position - 1, `missing before ${position.toString()}`);
      this.position = position;
    } else if (this.gaps.some(({ from, to }) => from <= position && position <= to))
      this.find(position, `the event stands out of order, behind position ${this.position.toString()}`);
    else this.again(position);
  }

  private again(position: number): void {
    this.duplicates += 1;
    const what = 'the event stands on Kafka once more; consumers drop it by its position';
    if (this.notes.length < FINDINGS_MAX)
      this.notes.push({ where: 'kafka', partition: this.partition, position, what });
  }

  private miss(from: number, to: number, how: string): void {
    const which =
      from === to ? `position ${from.toString()} is` : `positions ${from.toString()} to ${to.toString()} are`;
    if (this.gaps.length < FINDINGS_MAX) this.gaps.push({ from, to });
    this.find(from, `${which} ${how}${this.lastForeign === undefined ? '' : ` (${this.lastForeign})`}`);
    this.lastForeign = undefined;
  }

  private find(position: number, what: string): void {
    this.findings.add({ where: 'kafka', partition: this.partition, position, what });
  }
}
