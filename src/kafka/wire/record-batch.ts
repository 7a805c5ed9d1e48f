import type { OutgoingMessage } from './records.js';
import type { RequestWriter } from './request-writer.js';

/** The format of record batches since Kafka 0.11. */
export const MAGIC = 2;

const NO_PRODUCER = -1;
/** What a record takes besides its key and value, about: Holdfast's two headers, lengths, deltas. */
const RECORD_OVERHEAD = 96;
const BATCH_OVERHEAD = 61;

/** About how many bytes a batch takes: exact enough for a buffer that seldom has to grow. */
export const estimatedBytes = (messages: readonly OutgoingMessage[]): number => {
  let bytes = BATCH_OVERHEAD;
  for (const { key, value } of messages) bytes += RECORD_OVERHEAD + (key?.length ?? 0) + (value?.length ?? 0);
  return bytes;
};

const writeRecord = (out: RequestWriter, offsetDelta: number, { key, value, headers }: OutgoingMessage): void => {
  const expected = RECORD_OVERHEAD + (key?.length ?? 0) + (value?.length ?? 0);
  const start = out.openLength(expected);
  out.int8(0); // attributes: none are defined
  out.int8(0); // timestamp delta: all of a batch are of one moment
  out.varint(offsetDelta);
  out.text(key);
  out.text(value);
  const names = Object.keys(headers);
  out.varint(names.length);
  for (const name of names) {
    out.text(name);
    out.text(headers[name] ?? null);
  }
  out.closeLength(start, expected);
};

/**
 * Writes a record batch (magic 2), not compressed and of no idempotent producer: `nowMs` is the time of all its records, in ms
 * since 1970. The broker sets base offset and leader epoch.
 */
export const writeRecordBatch = (out: RequestWriter, messages: readonly OutgoingMessage[], nowMs: number): void => {
  out.int64(0); // base offset
  const lengthAt = out.at;
  out.int32(0);
  out.int32(0); // partition leader epoch
  out.int8(MAGIC);
  const checksumAt = out.at;
  out.int32(0);
  const checkedFrom = out.at;
  out.int16(0); // attributes: no compression, time as created
  out.int32(messages.length - 1);
  out.int64(nowMs);
  out.int64(nowMs);
  out.int64(NO_PRODUCER);
  out.int16(0); // producer epoch and first sequence mean nothing without a producer
  out.int32(0);
  out.int32(messages.length);
  let delta = 0;
  for (const message of messages) writeRecord(out, delta++, message);
  out.int32At(lengthAt, out.at - lengthAt - 4);
  out.int32At(checksumAt, out.checksum(checkedFrom));
};
