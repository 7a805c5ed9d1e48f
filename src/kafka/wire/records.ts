import type { KafkaError } from '../errors.js';

/** A record as Kafka holds it. */
export interface KafkaRecord {
  readonly offset: number;
  /** A part of the whole answer's memory, not a copy: to be read, not to be kept. */
  readonly value: Buffer | null;
}

/** What one fetch brought for one partition. */
export interface Fetched {
  readonly partition: number;
  readonly records: readonly KafkaRecord[];
  /** Where to read on. */
  readonly nextOffset: number;
  /** This partition can't be read at this offset; the others can. */
  readonly fault?: KafkaError;
}

export interface FetchLimits {
  /** How long the broker waits for something to come, ms. */
  readonly maxWaitMs: number;
  /** Of one answer, bytes; a single larger record batch still comes. */
  readonly maxBytes: number;
  readonly maxBytesPerPartition: number;
}

/** A record to be appended. A null value is what a compacted topic calls a tombstone; Holdfast writes none. */
export interface OutgoingMessage {
  readonly key: string | null;
  readonly value: string | null;
  readonly headers: Readonly<Record<string, string>>;
}
