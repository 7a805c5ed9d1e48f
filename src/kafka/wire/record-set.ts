import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { KafkaError } from '../errors.js';
import { AnswerReader, MalformedError } from './answer-reader.js';
import { MAGIC } from './record-batch.js';
import type { Fetched, KafkaRecord } from './records.js';

/** Base offset and length, then what the length counts. */
const LENGTH_ENDS_AT = 12;
const MAGIC_AT = 16;
const ATTRIBUTES_AT = 21;
/** Of a batch from its length on, without records. */
const SHORTEST_BATCH = 49;
const COMPRESSION_MASK = 0x07;
const CONTROL_MASK = 0x20;
const GZIP = 1;
const COMPRESSIONS: ReadonlyMap<number, string> = new Map([
  [2, 'Snappy'],
  [3, 'LZ4'],
  [4, 'ZSTD'],
]);
/** A batch that claims to be larger than this when unpacked is not unpacked. */
const UNPACKED_BYTES_MAX = 67_108_864;

interface Batch {
  readonly base: number;
  readonly last: number;
  readonly count: number;
  readonly attributes: number;
  readonly body: Buffer;
}

const unreadable = (why: string, cause?: unknown): KafkaError =>
  new KafkaError('unreadable', `Kafka: ${why}`, { cause });

const unzip = promisify(gunzip);

const unpacked = async (batch: Batch): Promise<Buffer> => {
  const compression = batch.attributes & COMPRESSION_MASK;
  if (compression !== GZIP)
    throw unreadable(`${COMPRESSIONS.get(compression) ?? `unknown (${compression})`} compression not implemented`);
  try {
    return await unzip(batch.body, { maxOutputLength: UNPACKED_BYTES_MAX });
  } catch (error) {
    throw unreadable('a compressed batch can’t be unpacked', error);
  }
};

/** Adds those of a batch's records that stand at `asked` or behind it. */
const takeRecords = (body: Buffer, { base, count }: Batch, asked: number, records: KafkaRecord[]): void => {
  const reader = new AnswerReader(body);
  for (let nth = 0; nth < count; nth++) {
    const length = reader.varint();
    const end = reader.at + length;
    if (length < 0 || end > reader.end) throw new MalformedError('a record longer than its batch');
    reader.skip(1); // attributes: none are defined
    reader.skipVarint(); // timestamp
    const offset = base + reader.varint();
    reader.skip(Math.max(reader.varint(), 0)); // key
    const size = reader.varint();
    if (offset >= asked) records.push({ offset, value: size < 0 ? null : reader.slice(size) });
    else reader.skip(Math.max(size, 0));
    if (reader.at > end) throw new MalformedError('a value longer than its record');
    reader.at = end; // past the headers, which nobody reads
  }
  if (reader.at !== reader.end) throw new MalformedError('bytes behind the last record of a batch');
};

/** The batch at the reader; undefined when only a part of it came, which is no fault: an answer is cut at its size. */
const nextBatch = (set: Buffer, reader: AnswerReader): Batch | undefined => {
  const start = reader.at;
  if (reader.end - start <= MAGIC_AT) return undefined;
  // The magic number stands there in every format.
  if (set[start + MAGIC_AT] !== MAGIC) throw unreadable('records in the format of before Kafka 0.11');
  const base = reader.int64();
  const length = reader.int32();
  if (length < SHORTEST_BATCH) throw new MalformedError('a batch too short to be one');
  if (length > reader.end - reader.at) return undefined;
  reader.at = start + ATTRIBUTES_AT;
  const attributes = reader.int16();
  const last = base + reader.int32();
  reader.skip(8 + 8 + 8 + 2 + 4); // times; producer, its epoch and sequence
  const count = reader.int32();
  if (count < 0 || last < base) throw new MalformedError('a count below zero');
  return { base, last, count, attributes, body: reader.slice(start + LENGTH_ENDS_AT + length - reader.at) };
};

/**
 * The records of one partition's answer from the offset that was asked for: batches are sent whole, the last one often cut off.
 * Control records (ends of transactions) are left out, and gone past. What can't be read (another compression than gzip, the
 * formats of before 0.11, damage) is this partition's fault `unreadable`, reported once it is the first thing in an answer.
 *
 * The checksum of a batch is not looked at: the broker checks it when it takes the batch, and of Holdfast's events each value's
 * hash is recomputed by whoever reads it, which finds more. It would double what reading an event costs.
 */
export const readRecordSet = async (set: Buffer, asked: number): Promise<Omit<Fetched, 'partition'>> => {
  const records: KafkaRecord[] = [];
  const reader = new AnswerReader(set);
  let [nextOffset, whole] = [asked, 0];
  try {
    for (let batch = nextBatch(set, reader); batch !== undefined; batch = nextBatch(set, reader)) {
      if ((batch.attributes & CONTROL_MASK) === 0 && batch.last >= asked) {
        const body = (batch.attributes & COMPRESSION_MASK) === 0 ? batch.body : await unpacked(batch);
        takeRecords(body, batch, asked, records);
      }
      nextOffset = Math.max(nextOffset, batch.last + 1);
      whole = records.length;
    }
  } catch (error) {
    const fault = error instanceof MalformedError ? unreadable(error.message, error) : error;
    if (!(fault instanceof KafkaError)) throw fault;
    if (nextOffset === asked) return { records: [], nextOffset, fault };
  }
  return { records: records.slice(0, whole), nextOffset };
};
