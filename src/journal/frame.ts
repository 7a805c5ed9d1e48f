const INITIAL_BYTES = 65_536;
/** A frame that grew beyond this for one large group does not keep the memory. */
const KEPT_BYTES_MAX = 4_194_304;
const TWO_32 = 4_294_967_296;

/**
 * The messages of one round trip, written one behind the other into one buffer. Each session reuses its own: the server
 * answers the closing Sync only once it has read everything, so nothing of the last round trip is still on its way out.
 * (Measured before: a buffer for each parameter, copied twice and sent in pieces, cost a fifth of the append path.)
 */
export class Frame {
  #buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #view = new DataView(this.#buffer.buffer);
  #length = 0;

  /** Forgets what was written. */
  reset(): void {
    this.#length = 0;
    if (this.#buffer.length > KEPT_BYTES_MAX) this.#replace(INITIAL_BYTES);
  }

  /** What was written: valid until the next `reset`. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  byte(value: number): void {
    this.#ensure(1);
    this.#buffer[this.#length++] = value;
  }

  int16(value: number): void {
    this.#ensure(2);
    this.#view.setInt16(this.#length, value);
    this.#length += 2;
  }

  int32(value: number): void {
    this.#ensure(4);
    this.#view.setInt32(this.#length, value);
    this.#length += 4;
  }

  /** A 64-bit whole number; one given as a JavaScript number is a safe one. */
  int64(value: bigint | number): void {
    this.#ensure(8);
    if (typeof value === 'bigint') this.#view.setBigInt64(this.#length, value);
    else {
      this.#view.setInt32(this.#length, Math.floor(value / TWO_32));
      this.#view.setUint32(this.#length + 4, value >>> 0);
    }
    this.#length += 8;
  }

  /** The bytes of a hex string. Returns how many. */
  hex(value: string): number {
    this.#ensure(value.length);
    const written = this.#buffer.write(value, this.#length, 'hex');
    this.#length += written;
    return written;
  }

  /** UTF-8, with a zero byte behind it. It must hold none. */
  cstring(value: string): void {
    this.#utf8(value);
    this.byte(0);
  }

  /** UTF-8, with its length in bytes before it. */
  sizedText(value: string): void {
    const at = this.#length;
    this.int32(0);
    const bytes = this.#utf8(value);
    // Not before: writing may have moved everything into a larger buffer.
    this.#view.setInt32(at, bytes);
  }

  /** Whatever `write` writes, with its length in bytes before it. */
  sized(write: (frame: Frame) => void): void {
    const at = this.#length;
    this.int32(0);
    write(this);
    this.#view.setInt32(at, this.#length - at - 4);
  }

  /** A message of the protocol: its type's letter, its length (counting itself), what `write` writes. */
  message(type: string, write: (frame: Frame) => void): void {
    this.byte(type.charCodeAt(0));
    const at = this.#length;
    this.int32(0);
    write(this);
    this.#view.setInt32(at, this.#length - at);
  }

  #utf8(value: string): number {
    // Three bytes is the most that one UTF-16 unit becomes.
    this.#ensure(value.length * 3);
    const written = this.#buffer.write(value, this.#length, 'utf8');
    this.#length += written;
    return written;
  }

  #ensure(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#buffer.length) return;
    const old = this.#buffer;
    this.#replace(Math.max(needed, old.length * 2));
    old.copy(this.#buffer, 0, 0, this.#length);
  }

  #replace(bytes: number): void {
    this.#buffer = Buffer.allocUnsafeSlow(bytes);
    this.#view = new DataView(this.#buffer.buffer);
  }
}
