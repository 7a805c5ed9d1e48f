import type { KafkaError } from '../errors.js';
import { AnswerReader } from './answer-reader.js';
import type { Answer, ApiCall } from './api-call.js';
import { errorOfNumber } from './error-codes.js';
import { estimatedBytes, writeRecordBatch } from './record-batch.js';
import type { OutgoingMessage } from './records.js';
import { RequestWriter } from './request-writer.js';

/** A batch for each partition of one topic. */
export interface Production {
  readonly topic: string;
  readonly batches: ReadonlyMap<number, readonly OutgoingMessage[]>;
  /** How long the broker may wait for its replicas, ms. */
  readonly timeoutMs: number;
  /** When the records were made: ms since 1970. */
  readonly nowMs: number;
}

const ALL_REPLICAS = -1;
const REQUEST_OVERHEAD = 300;
/** From here on an answer tells where the log begins. */
const WITH_LOG_START = 5;
/** From here on the broker does not wait itself when it wants to be left in peace. */
const THROTTLED_BY_CLIENT = 6;

/** The request, without its header; the same in all versions that are spoken. Empty batches are not allowed. */
export const encodeProduce = ({ topic, batches, timeoutMs, nowMs }: Production): Buffer => {
  let capacity = REQUEST_OVERHEAD;
  for (const messages of batches.values()) capacity += estimatedBytes(messages) + 8;
  const out = new RequestWriter(capacity);
  out.text16(null); // no transaction
  out.int16(ALL_REPLICAS);
  out.int32(timeoutMs);
  out.int32(1);
  out.text16(topic);
  out.int32(batches.size);
  for (const [partition, messages] of batches) {
    out.int32(partition);
    const sizeAt = out.at;
    out.int32(0);
    writeRecordBatch(out, messages, nowMs);
    out.int32At(sizeAt, out.at - sizeAt - 4);
  }
  return out.bytes();
};

/** By partition: the offset of its batch's first record, or why it was not appended. */
export type Produced = ReadonlyMap<number, number | KafkaError>;

/** Reads the answer. Raises KafkaError when it ends too early. */
export const decodeProduced = (bytes: Buffer, version: number): Answer<Produced> => {
  const reader = new AnswerReader(bytes);
  const produced = new Map<number, number | KafkaError>();
  for (let topics = reader.count(); topics > 0; topics--) {
    reader.skipText16();
    for (let partitions = reader.count(); partitions > 0; partitions--) {
      const [partition, error] = [reader.int32(), reader.int16()];
      const offset = reader.int64();
      produced.set(partition, error === 0 ? offset : errorOfNumber(error));
      reader.skip(version >= WITH_LOG_START ? 16 : 8); // time of append, where the log begins
    }
  }
  const throttleMs = reader.int32();
  return { value: produced, throttleMs: version >= THROTTLED_BY_CLIENT ? throttleMs : 0 };
};

/** Appends a batch to each of some partitions that one broker leads, acknowledged by all in-sync replicas. */
export const produceCall = (production: Production): ApiCall<Produced> => ({
  apiKey: 0,
  apiName: 'Produce',
  oldest: 3,
  newest: 7,
  waitMs: 0,
  encode: () => encodeProduce(production),
  decode: decodeProduced,
});
