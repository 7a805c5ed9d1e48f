import { isPartitionFault } from '../errors.js';
import { AnswerReader } from './answer-reader.js';
import type { Answer, ApiCall } from './api-call.js';
import { errorOfNumber } from './error-codes.js';
import { readRecordSet } from './record-set.js';
import type { FetchLimits, Fetched } from './records.js';
import { RequestWriter } from './request-writer.js';

/** Partitions of one topic, each from an offset on. */
export interface Asked {
  readonly topic: string;
  /** In this order the broker fills its answer, until it is full. */
  readonly from: ReadonlyMap<number, number>;
  readonly limits: FetchLimits;
}

const NO_REPLICA = -1;
const READ_UNCOMMITTED = 0;
const NO_SESSION = -1;
/** From these versions on there is, in the request or the answer: */
const [LOG_START, SESSION, THROTTLED_BY_CLIENT, LEADER_EPOCH, RACK] = [5, 7, 8, 9, 11];
/** On top of what the broker waits on purpose, ms. */
const ON_THE_WAY_MS = 100;

/** The request, without its header. */
export const encodeFetch = ({ topic, from, limits }: Asked, version: number): Buffer => {
  const out = new RequestWriter(300 + 28 * from.size);
  out.int32(NO_REPLICA);
  out.int32(limits.maxWaitMs);
  out.int32(1); // bytes at least
  out.int32(limits.maxBytes);
  out.int8(READ_UNCOMMITTED);
  if (version >= SESSION) {
    out.int32(0);
    out.int32(NO_SESSION);
  }
  out.int32(1);
  out.text16(topic);
  out.int32(from.size);
  for (const [partition, offset] of from) {
    out.int32(partition);
    if (version >= LEADER_EPOCH) out.int32(-1); // any
    out.int64(offset);
    if (version >= LOG_START) out.int64(-1); // followers only
    out.int32(limits.maxBytesPerPartition);
  }
  if (version >= SESSION) out.int32(0); // no topics to forget
  if (version >= RACK) out.text16('');
  return out.bytes();
};

const readPartition = async (
  reader: AnswerReader,
  version: number,
  from: ReadonlyMap<number, number>,
): Promise<Fetched> => {
  const [partition, error] = [reader.int32(), reader.int16()];
  reader.skip(version >= LOG_START ? 24 : 16); // how far the log goes, is stable, and where it begins
  reader.skip(16 * reader.count()); // transactions that were given up
  if (version >= RACK) reader.skip(4); // a replica that would rather be asked
  const set = reader.slice(Math.max(reader.int32(), 0));
  const asked = from.get(partition) ?? 0;
  if (error === 0) return { partition, ...(await readRecordSet(set, asked)) };
  const fault = errorOfNumber(error);
  if (!isPartitionFault(fault)) throw fault;
  return { partition, records: [], nextOffset: asked, fault };
};

/**
 * What came for each partition. An error of one partition that leaves the connection as good as it was is reported in its
 * place; any other (it moved, or is gone) is raised.
 */
export const decodeFetched = async (
  bytes: Buffer,
  version: number,
  from: ReadonlyMap<number, number>,
): Promise<Answer<Fetched[]>> => {
  const reader = new AnswerReader(bytes);
  const throttleMs = reader.int32();
  const error = version >= SESSION ? reader.int16() : 0;
  if (error !== 0) throw errorOfNumber(error);
  if (version >= SESSION) reader.skip(4);
  const fetched: Fetched[] = [];
  for (let topics = reader.count(); topics > 0; topics--) {
    reader.skipText16();
    for (let partitions = reader.count(); partitions > 0; partitions--)
      fetched.push(await readPartition(reader, version, from));
  }
  return { value: fetched, throttleMs: version >= THROTTLED_BY_CLIENT ? throttleMs : 0 };
};

/** Reads partitions that one broker leads. */
export const fetchCall = (asked: Asked): ApiCall<Fetched[]> => ({
  apiKey: 1,
  apiName: 'Fetch',
  oldest: 4,
  newest: 11,
  waitMs: asked.limits.maxWaitMs + ON_THE_WAY_MS,
  encode: (version) => encodeFetch(asked, version),
  decode: (answer, version) => decodeFetched(answer, version, asked.from),
});
