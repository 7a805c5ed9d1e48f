import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../core/ports.js';
import type { JournalReader } from '../core/ports.js';
import { reasonOf } from './errors.js';
import type { FollowedPartition } from './followed-partition.js';

/** Most commands that wait at once. */
const WAITING_MAX = 20_000;

const pending = (message: string, options?: ErrorOptions): UnavailableError =>
  new UnavailableError('replication_pending', message, options);

/** Answers commands that wait for Kafka, from what is known of the partitions that are followed. */
export class Confirmations {
  #waiting = 0;

  constructor(
    private readonly reader: Pick<JournalReader, 'read'>,
    private readonly timeoutMs: number,
  ) {}

  /** Commands that wait now. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Resolves once the log on Kafka has `position` with `hash`. Raises UnavailableError `replication_pending` when that does not come
   * about in time, or when too many wait; the command is committed all the same.
   */
  async confirm(one: FollowedPartition, position: number, hash: string): Promise<void> {
    if (this.#waiting >= WAITING_MAX) throw pending('Too many commands wait for Kafka.');
    this.#waiting++;
    try {
      const arrival = await one.arrival(position, this.timeoutMs);
      if (arrival.kind === 'too_late') throw pending('Kafka has not confirmed it in time.');
      if (arrival.kind === 'stopped') throw pending(`Kafka’s log is not followed any more: ${arrival.why}.`);
      if (arrival.kind === 'passed') await this.#compare(one, position);
      else if (arrival.hash !== hash) throw pending(`Kafka holds another event at position ${position}.`);
      else one.agreed = Math.max(one.agreed, position);
    } finally {
      this.#waiting--;
    }
  }

  /**
   * For a position that is behind what is remembered. Both logs are chains: if the journal has the same hash as Kafka at the last
   * position that was followed, they are the same at every position before it, so at this one.
   */
  async #compare(one: FollowedPartition, position: number): Promise<void> {
    if (one.agreed >= position) return;
    const { position: last, hash } = one;
    const [stored] = await this.#read(one.partition, last);
    if (stored?.hash !== hash) throw pending(`Kafka’s log at position ${last} is not the journal’s.`);
    one.agreed = Math.max(one.agreed, last);
  }

  async #read(partition: number, position: number) {
    const late = sleep(this.timeoutMs, undefined, { ref: false }).then(() => {
      throw pending('The journal has not answered in time.');
    });
    try {
      const read = this.reader.read(partition, position - 1, 1);
      return await Promise.race([read, late]);
    } catch (error) {
      throw error instanceof UnavailableError && error.code === 'replication_pending'
        ? error
        : pending(`The journal can’t say: ${reasonOf(error)}`, { cause: error });
    } finally {
      late.catch(() => undefined);
    }
  }
}
