/** What a broker answered, and for how long it wants to hear nothing (ms). */
export interface Answer<T> {
  readonly value: T;
  readonly throttleMs: number;
}

/** A request that this program writes, and reads the answer of, itself: kafkajs only carries it. */
export interface ApiCall<T> {
  readonly apiKey: number;
  readonly apiName: string;
  /** The versions that this program speaks; the newest that the broker offers, too, is taken. */
  readonly oldest: number;
  readonly newest: number;
  /** The broker may take as long as this on purpose, ms. */
  readonly waitMs: number;
  encode(version: number): Buffer;
  decode(answer: Buffer, version: number): Answer<T> | Promise<Answer<T>>;
}
