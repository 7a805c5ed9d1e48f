import { endianness } from 'node:os';

/** Castagnoli's polynomial, reflected. */
const POLYNOMIAL = 0x82f63b78;
const AT_ONCE = 16;

/** Table n (256 entries from n × 256) is the checksum of a byte with n zero bytes behind it. */
const tables = (): Int32Array => {
  const made = new Int32Array(AT_ONCE * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    made[byte] = crc;
  }
  for (let at = 256; at < made.length; at++) {
    const before = made[at - 256] ?? 0;
    made[at] = (made[before & 255] ?? 0) ^ (before >>> 8);
  }
  return made;
};

const TABLES = tables();
/** A word is read as the machine has it; where that is the other way round, bytes are taken one by one. */
const WORDS_READ_IN_ORDER = endianness() === 'LE';

const entry = (at: number): number => TABLES[at] ?? 0;

/** What the four bytes of a word add, when `behind` bytes of the sixteen come after its first. */
const ofWord = (word: number, behind: number): number =>
  entry((behind << 8) + (word & 255)) ^
  entry(((behind - 1) << 8) + ((word >>> 8) & 255)) ^
  entry(((behind - 2) << 8) + ((word >>> 16) & 255)) ^
  entry(((behind - 3) << 8) + (word >>> 24));

const bytewise = (bytes: Buffer, from: number, to: number, before: number): number => {
  let crc = before;
  for (let at = from; at < to; at++) crc = entry((crc ^ (bytes[at] ?? 0)) & 255) ^ (crc >>> 8);
  return crc;
};

/**
 * CRC-32C of a part of a buffer, as record batches carry it. `words` is a view of the same memory from the same place. Sixteen
 * bytes a step, read as four words: 1.2 ns a byte, where a table of one byte takes 4 (measured), which for events of 900 bytes
 * would be the largest part of what producing them costs.
 */
export const crc32c = (bytes: Buffer, words: Int32Array, from: number, to: number): number => {
  const aligned = Math.min(to, (from + 3) & ~3);
  let crc = bytewise(bytes, from, aligned, -1);
  let at = aligned;
  if (WORDS_READ_IN_ORDER)
    for (; at + AT_ONCE <= to; at += AT_ONCE) {
      const word = at >>> 2;
      crc =
        ofWord((words[word] ?? 0) ^ crc, 15) ^
        ofWord(words[word + 1] ?? 0, 11) ^
        ofWord(words[word + 2] ?? 0, 7) ^
        ofWord(words[word + 3] ?? 0, 3);
    }
  crc = bytewise(bytes, at, to, crc);
  return ~crc >>> 0;
};
