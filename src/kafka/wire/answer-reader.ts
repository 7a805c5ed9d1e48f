const TWO_32 = 4_294_967_296;

/** Bytes that are not what the protocol says. */
export class MalformedError extends Error {
  override readonly name = 'MalformedError';
  constructor(readonly what: string) {
    super(`What Kafka sent is damaged: ${what}.`);
  }
}

/** Reads bytes front to back; raises MalformedError at what can't be. Never reads past `end`. */
export class AnswerReader {
  constructor(
    private readonly bytes: Buffer,
    public at = 0,
    public readonly end = bytes.length,
  ) {}

  int8(): number {
    return this.bytes.readInt8(this.#next(1));
  }

  int16(): number {
    return this.bytes.readInt16BE(this.#next(2));
  }

  int32(): number {
    return this.bytes.readInt32BE(this.#next(4));
  }

  /** A whole number of 64 bits that must be a safe one: offsets are. */
  int64(): number {
    const at = this.#next(8);
    const value = this.bytes.readInt32BE(at) * TWO_32 + this.bytes.readUInt32BE(at + 4);
    if (!Number.isSafeInteger(value)) throw new MalformedError('an offset past what can be counted');
    return value;
  }

  /** A zigzag varint of 32 bits. */
  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#byte();
      value |= (byte & 127) << shift;
      if (byte < 128) return (value >>> 1) ^ -(value & 1);
    }
    throw new MalformedError('a number that does not end');
  }

  /** Passes over a varint of up to 64 bits. */
  skipVarint(): void {
    for (let length = 1; this.#byte() > 127; length++)
      if (length === 10) throw new MalformedError('a number that does not end');
  }

  skip(length: number): void {
    this.#next(length);
  }

  /** The next bytes, not copied. */
  slice(length: number): Buffer {
    const at = this.#next(length);
    return this.bytes.subarray(at, at + length);
  }

  /** How many entries follow; a null array has none. */
  count(): number {
    const count = this.int32();
    if (count < -1) throw new MalformedError('a count below zero');
    return Math.max(count, 0);
  }

  /** Passes over a text with its length in 16 bits. */
  skipText16(): void {
    const length = this.int16();
    if (length >= 0) this.#next(length);
  }

  #byte(): number {
    const byte = this.at < this.end ? this.bytes[this.at++] : undefined;
    if (byte === undefined) throw new MalformedError('it ends too early');
    return byte;
  }

  #next(length: number): number {
    const at = this.at;
    if (length < 0) throw new MalformedError('a length below zero');
    if (length > this.end - at) throw new MalformedError('it ends too early');
    this.at = at + length;
    return at;
  }
}
