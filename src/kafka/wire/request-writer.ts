import { crc32c } from './crc32c.js';

const TWO_32 = 4_294_967_296;
/** Up to here a loop beats the call into Node that writes a text. */
const SHORT_TEXT = 64;
const BYTES_OF_CHARACTER_MAX = 3;
const BYTES_OF_VARINT_MAX = 5;

/** How many bytes a length takes as a varint (zigzag, so one bit is gone). */
const sizeOfLength = (length: number): number =>
  length < 0x40 ? 1 : length < 0x2000 ? 2 : length < 0x10_0000 ? 3 : length < 0x800_0000 ? 4 : 5;

/** Uninitialized memory that begins at a whole word, for the checksum. Node's pool, for what is small, gives such by its custom only. */
const allocate = (size: number): Buffer => {
  const bytes = Buffer.allocUnsafe(size);
  return bytes.byteOffset % 4 === 0 ? bytes : Buffer.allocUnsafeSlow(size);
};

const viewOf = (bytes: Buffer): Int32Array => new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);

/**
 * One request's bytes, written once, front to back, into one buffer. Lengths stand before what they count: room is left for
 * what they will probably be, and what was written moves by a byte where that was wrong, so nothing is measured first.
 */
export class RequestWriter {
  #bytes: Buffer;
  #words: Int32Array;
  #at = 0;

  /** `capacity` in bytes is what will probably do; the buffer grows past it. */
  constructor(capacity: number) {
    this.#bytes = allocate(Math.max(capacity, 64));
    this.#words = viewOf(this.#bytes);
  }

  /** Where the next byte goes. */
  get at(): number {
    return this.#at;
  }

  /** What was written; the writer is done with. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  int8(value: number): void {
    this.#ensure(1);
    this.#bytes[this.#at++] = value & 255;
  }

  int16(value: number): void {
    this.#ensure(2);
    this.#at = this.#bytes.writeInt16BE(value, this.#at);
  }

  int32(value: number): void {
    this.#ensure(4);
    this.#at = this.#bytes.writeInt32BE(value, this.#at);
  }

  /** A safe whole number in 64 bits. */
  int64(value: number): void {
    this.#ensure(8);
    this.#bytes.writeInt32BE(Math.floor(value / TWO_32), this.#at);
    this.#at = this.#bytes.writeUInt32BE(value >>> 0, this.#at + 4);
  }

  /** A zigzag varint of 32 bits. */
  varint(value: number): void {
    this.#ensure(BYTES_OF_VARINT_MAX);
    let rest = ((value << 1) ^ (value >> 31)) >>> 0;
    for (; rest > 127; rest >>>= 7) this.#bytes[this.#at++] = (rest & 127) | 128;
    this.#bytes[this.#at++] = rest;
  }

  /** UTF-8 with its length in 16 bits before it; null has the length -1. */
  text16(text: string | null): void {
    if (text === null) return this.int16(-1);
    this.#ensure(2 + text.length * BYTES_OF_CHARACTER_MAX);
    const length = this.#utf8(text, this.#at + 2);
    this.#bytes.writeInt16BE(length, this.#at);
    this.#at += 2 + length;
  }

  /** UTF-8 with its length as a varint before it; null has the length -1. */
  text(text: string | null): void {
    if (text === null) return this.varint(-1);
    this.#ensure(BYTES_OF_VARINT_MAX + text.length * BYTES_OF_CHARACTER_MAX);
    const start = this.openLength(text.length);
    this.#at += this.#utf8(text, start);
    this.closeLength(start, text.length);
  }

  /** Leaves room for a length, probably of about `expected`. Returns where begins what it counts, for `closeLength`. */
  openLength(expected: number): number {
    this.#ensure(BYTES_OF_VARINT_MAX);
    this.#at += sizeOfLength(expected);
    return this.#at;
  }

  /** Writes the length (a varint) of what stands from `start` on, which was opened with `expected`. */
  closeLength(start: number, expected: number): void {
    const length = this.#at - start;
    const end = this.#at;
    const before = start - sizeOfLength(expected);
    const begin = before + sizeOfLength(length);
    if (begin !== start) {
      this.#ensure(BYTES_OF_VARINT_MAX);
      this.#bytes.copyWithin(begin, start, end);
    }
    this.#at = before;
    this.varint(length);
    this.#at = begin + length;
  }

  /** Writes 32 bits over what stands at `at`. */
  int32At(at: number, value: number): void {
    this.#bytes.writeInt32BE(value | 0, at);
  }

  /** CRC-32C of what stands from `from` on. */
  checksum(from: number): number {
    return crc32c(this.#bytes, this.#words, from, this.#at);
  }

  #utf8(text: string, at: number): number {
    if (text.length > SHORT_TEXT) return this.#bytes.write(text, at);
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 127) return this.#bytes.write(text, at);
      this.#bytes[at + i] = unit;
    }
    return text.length;
  }

  #ensure(more: number): void {
    const needed = this.#at + more;
    if (needed <= this.#bytes.length) return;
    const larger = allocate(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
    this.#words = viewOf(larger);
  }
}
