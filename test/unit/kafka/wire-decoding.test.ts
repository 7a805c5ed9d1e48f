import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KafkaError } from '../../../src/kafka/errors.js';
import { decodeFetched } from '../../../src/kafka/wire/fetch.js';
import { writeRecordBatch } from '../../../src/kafka/wire/record-batch.js';
import { readRecordSet } from '../../../src/kafka/wire/record-set.js';
import { RequestWriter } from '../../../src/kafka/wire/request-writer.js';
import { fetchAnswer, kafkajsBatch, kafkajsFetched } from './kafkajs-codec.js';
import type { Message } from './kafkajs-codec.js';
import { messages } from './wire-arbitraries.js';

const VERSION = 11;
const said = (...values: readonly string[]): Message[] => values.map((value) => ({ key: 'k', value, headers: {} }));
const values = (records: readonly { readonly value: Buffer | null }[]): (string | null)[] =>
  records.map(({ value }) => value?.toString() ?? null);

/** Sets of batches, one behind the other, of one partition. */
const batchesOf = (runs: readonly (readonly Message[])[], compression = 0, base = 0): Promise<Buffer[]> => {
  let next = base;
  return Promise.all(
    runs.map((run) => {
      next += run.length;
      return kafkajsBatch(run, { base: next - run.length, compression });
    }),
  );
};

describe('what kafkajs’s encoder wrote is read as kafkajs’s decoder reads it', () => {
  test.each([
    ['not compressed', 0],
    ['in gzip', 1],
  ])('%s', async (_name, compression) => {
    const sets = fc.array(fc.tuple(fc.array(messages, { maxLength: 3 }), fc.nat(2 ** 48)), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(sets, async (partitions) => {
        const written = await Promise.all(partitions.map(([runs, base]) => batchesOf(runs, compression, base)));
        const answer = fetchAnswer(written.map((batches) => ({ set: Buffer.concat(batches) })));
        const from = new Map(partitions.map(([, base], partition) => [partition, base]));
        const { value: ours } = await decodeFetched(answer, VERSION, from);
        const theirs = await kafkajsFetched(VERSION, answer);
        expect(ours.map(({ records }) => records.map(({ offset, value }) => [offset, value?.toString('hex')]))).toEqual(
          theirs.map((records) => records.map(({ offset, value }) => [Number(offset), value?.toString('hex')])),
        );
        expect(ours.map(({ partition, nextOffset, fault }) => [partition, nextOffset, fault])).toEqual(
          partitions.map(([runs, base], partition) => [partition, base + runs.flat().length, undefined]),
        );
      }),
      { numRuns: 50 },
    );
  });
});

test('records before the offset asked for are left out: batches are sent whole', async () => {
  const set = Buffer.concat(await batchesOf([said('a', 'b', 'c'), said('d', 'e')], 0, 10));
  expect(values((await readRecordSet(set, 12)).records)).toEqual(['c', 'd', 'e']);
  expect(values((await readRecordSet(set, 13)).records)).toEqual(['d', 'e']);
  expect(await readRecordSet(set, 15)).toEqual({ records: [], nextOffset: 15 });
});

test('control records are left out and gone past, and so are batches that cleaning has emptied', async () => {
  const [first, marker, emptied, last] = await batchesOf([said('a'), said('commit'), said('x', 'y'), said('b')]);
  if (first === undefined || marker === undefined || emptied === undefined || last === undefined) throw new Error();
  marker.writeInt16BE(0x30, 21);
  const header = Buffer.from(emptied.subarray(0, 61));
  header.writeInt32BE(49, 8);
  header.writeInt32BE(0, 57);
  const read = await readRecordSet(Buffer.concat([first, marker, header]), 0);
  expect([values(read.records), read.nextOffset]).toEqual([['a'], 4]);
  const more = await readRecordSet(Buffer.concat([marker, header, last]), 1);
  expect(more.records.map(({ offset }) => offset)).toEqual([4]);
  expect(await readRecordSet(marker, 1)).toEqual({ records: [], nextOffset: 2 });
});

test('an answer cut at any length gives the batches that came whole, and no fault', async () => {
  const batches = await batchesOf([said('a', 'b'), said('c'), said('é'.repeat(100), 'e')]);
  const set = Buffer.concat(batches);
  const ends = batches.map((_, nth) => Buffer.concat(batches.slice(0, nth + 1)).length);
  for (let length = 0; length <= set.length; length++) {
    const whole = ends.filter((end) => end <= length).length;
    const read = await readRecordSet(set.subarray(0, length), 0);
    expect(read.fault).toBeUndefined();
    expect([read.records.length, read.nextOffset]).toEqual([[0, 2, 3, 5][whole], [0, 2, 3, 5][whole]]);
  }
});

describe('what can’t be read is the fault of its partition', () => {
  test.each([
    [2, 'Snappy'],
    [3, 'LZ4'],
    [4, 'ZSTD'],
    [7, 'unknown (7)'],
  ])('compression %i: %s', async (code, name) => {
    const [good, bad] = await batchesOf([said('a'), said('b')]);
    if (good === undefined || bad === undefined) throw new Error();
    bad.writeInt16BE(code, 21);
    // What stands before it is read first.
    const first = await readRecordSet(Buffer.concat([good, bad]), 0);
    expect([values(first.records), first.nextOffset, first.fault]).toEqual([['a'], 1, undefined]);
    const { records, nextOffset, fault } = await readRecordSet(bad, 1);
    expect([records, nextOffset]).toEqual([[], 1]);
    expect(fault).toMatchObject({ code: 'unreadable', message: `Kafka: ${name} compression not implemented` });
  });

  test.each([0, 1, 3])('records of magic %i', async (magic) => {
    const [batch] = await batchesOf([said('a')]);
    batch?.writeInt8(magic, 16);
    expect((await readRecordSet(batch ?? Buffer.alloc(0), 0)).fault?.code).toBe('unreadable');
  });

  test('gzip that is none, and gzip that unpacks to more than it may', async () => {
    const [batch] = await batchesOf([said('a')]);
    batch?.writeInt16BE(1, 21);
    expect((await readRecordSet(batch ?? Buffer.alloc(0), 0)).fault?.code).toBe('unreadable');
    const bomb = Buffer.concat([batch?.subarray(0, 61) ?? Buffer.alloc(0), gzipSync(Buffer.alloc(70_000_000))]);
    bomb.writeInt32BE(bomb.length - 12, 8);
    expect((await readRecordSet(bomb, 0)).fault?.code).toBe('unreadable');
  });

  test('any bytes changed anywhere: no other error, no end that does not come, nothing that is not there', async () => {
    const set = Buffer.concat(await batchesOf([said('a', 'bb'), said('c'.repeat(80))]));
    const changes = fc.array(fc.tuple(fc.nat(set.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(changes, async (changed) => {
        const damaged = Buffer.from(set);
        for (const [at, byte] of changed) damaged[at] = byte;
        const { records, nextOffset, fault } = await readRecordSet(damaged, 0);
        if (fault !== undefined) expect(fault).toMatchObject({ name: 'KafkaError', code: 'unreadable' });
        expect(records.every(({ offset }) => offset >= 0 && offset < nextOffset + 2 ** 31)).toBe(true);
        expect(records.length).toBeLessThan(set.length);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('an answer of several partitions', () => {
  const from = new Map([
    [0, 5],
    [1, 0],
    [2, 7],
  ]);
  const good = async (): Promise<Buffer> => Buffer.concat(await batchesOf([said('a', 'b')]));

  test('reports an offset out of range for the partition that it is of; the others are read', async () => {
    const answer = fetchAnswer([{ error: 1, set: Buffer.alloc(0) }, { set: await good() }, { set: Buffer.alloc(0) }]);
    const { value } = await decodeFetched(answer, VERSION, from);
    expect(value).toMatchObject([
      { partition: 0, records: [], nextOffset: 5, fault: { code: 'out_of_range' } },
      { partition: 1, nextOffset: 2 },
      { partition: 2, records: [], nextOffset: 7 },
    ]);
    expect(value.map(({ fault }) => fault?.code)).toEqual(['out_of_range', undefined, undefined]);
  });

  test.each([
    [3, 'topic_missing'],
    [6, 'unreachable'],
    [29, 'refused'],
    [999, 'unreachable'],
  ])('raises error %i, which says something of more than its partition, as %s', async (error, code) => {
    const answer = fetchAnswer([{ set: await good() }, { error, set: Buffer.alloc(0) }]);
    await expect(decodeFetched(answer, VERSION, from)).rejects.toMatchObject({ name: 'KafkaError', code });
  });

  test('cut at any length raises that it is damaged', async () => {
    const answer = fetchAnswer([{ set: await good() }, { set: await good() }]);
    for (let length = 0; length < answer.length; length++)
      await expect(decodeFetched(answer.subarray(0, length), VERSION, from)).rejects.toThrow('ends too early');
    await expect(decodeFetched(answer, VERSION, from)).resolves.toHaveProperty('throttleMs', 0);
  });
});

test('what is written here is read here, and nothing is copied', async () => {
  const out = new RequestWriter(10);
  writeRecordBatch(out, [{ key: null, value: null, headers: {} }, ...said('', 'x')], Date.now());
  const set = out.bytes();
  const { records, nextOffset } = await readRecordSet(set, 0);
  expect([values(records), nextOffset]).toEqual([[null, '', 'x'], 3]);
  expect(records[2]?.value?.buffer).toBe(set.buffer);
  expect(new KafkaError('closed', '').name).toBe('KafkaError');
});
