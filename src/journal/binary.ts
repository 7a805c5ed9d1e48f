/*
 * Arrays in Postgres's binary form, for parameters. Measured: the driver's text form costs more than twice as much a
 * row, since every body would be quoted and escaped.
 * Form: dimensions, has-nulls, element type, length, lower bound (five int32), then for each element its byte length
 * (−1: null) and bytes.
 */

const OID = { bool: 16, bytea: 17, int8: 20, int4: 23, text: 25 } as const;
const HEADER_BYTES = 20;

const begin = (oid: number, length: number, bytes: number): Buffer => {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(1, 4);
  buffer.writeInt32BE(oid, 8);
  buffer.writeInt32BE(length, 12);
  buffer.writeInt32BE(1, 16);
  return buffer;
};

/** An int4[]. */
export const int4Array = (values: readonly number[]): Buffer => {
  const buffer = begin(OID.int4, values.length, values.length * 8);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = buffer.writeInt32BE(4, at);
    at = buffer.writeInt32BE(value, at);
  }
  return buffer;
};

/** An int8[]; amounts as bigint, positions and milliseconds as numbers. */
export const int8Array = (values: readonly (bigint | number | undefined)[]): Buffer => {
  const buffer = begin(OID.int8, values.length, values.length * 12);
  let at = HEADER_BYTES;
  for (const value of values) {
    if (value === undefined) {
      at = buffer.writeInt32BE(-1, at);
      continue;
    }
    at = buffer.writeInt32BE(8, at);
    at = buffer.writeBigInt64BE(BigInt(value), at);
  }
  return at === buffer.length ? buffer : buffer.subarray(0, at);
};

/** A bool[]. */
export const boolArray = (values: readonly boolean[]): Buffer => {
  const buffer = begin(OID.bool, values.length, values.length * 5);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = buffer.writeInt32BE(1, at);
    at = buffer.writeUInt8(value ? 1 : 0, at);
  }
  return buffer;
};

/** A bytea[] of hashes in hex. */
export const hashArray = (values: readonly string[]): Buffer => {
  const buffer = begin(OID.bytea, values.length, values.length * 36);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = buffer.writeInt32BE(32, at);
    at += buffer.write(value, at, 32, 'hex');
  }
  if (at !== buffer.length) throw new Error('A hash is 64 hex digits.');
  return buffer;
};

/** A text[]; undefined is NULL. */
export const textArray = (values: readonly (string | undefined)[]): Buffer => {
  let bytes = 0;
  for (const value of values) bytes += 4 + (value === undefined ? 0 : Buffer.byteLength(value));
  const buffer = begin(OID.text, values.length, bytes);
  let at = HEADER_BYTES;
  for (const value of values) {
    if (value === undefined) {
      at = buffer.writeInt32BE(-1, at);
      continue;
    }
    const length = buffer.write(value, at + 4, 'utf8');
    at = buffer.writeInt32BE(length, at) + length;
  }
  return buffer;
};
