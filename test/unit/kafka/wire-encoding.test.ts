import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { crc32c } from '../../../src/kafka/wire/crc32c.js';
import { encodeFetch } from '../../../src/kafka/wire/fetch.js';
import { encodeProduce } from '../../../src/kafka/wire/produce.js';
import { kafkajsCrc32c, kafkajsFetch, kafkajsProduce } from './kafkajs-codec.js';
import { messages, texts } from './wire-arbitraries.js';

const NOW_MS = 1_790_000_123_456;
beforeEach(() => vi.useFakeTimers({ now: NOW_MS, toFake: ['Date'] }));
afterEach(() => vi.useRealTimers());

test('a produce request is byte for byte what kafkajs writes, in every version that is spoken', async () => {
  const requests = fc.record({
    topic: fc.string({ minLength: 1, maxLength: 40 }),
    batches: fc
      .uniqueArray(fc.tuple(fc.nat(1_000), messages), { selector: ([partition]) => partition, maxLength: 6 })
      .map((entries) => new Map(entries)),
    timeoutMs: fc.nat(60_000),
    version: fc.integer({ min: 3, max: 7 }),
  });
  await fc.assert(
    fc.asyncProperty(requests, async ({ topic, batches, timeoutMs, version }) => {
      const ours = encodeProduce({ topic, batches, timeoutMs, nowMs: NOW_MS });
      expect(ours.equals(await kafkajsProduce(version, topic, batches, timeoutMs))).toBe(true);
    }),
    { numRuns: 200 },
  );
});

// Where a length needs one byte more, and where a text's bytes are more than its characters.
test.each([0, 1, 30, 62, 63, 64, 65, 8_050, 8_190, 8_191, 8_192, 8_193, 1_048_575, 1_048_576])(
  'a value of %i characters is written as kafkajs writes it, in one, two and three bytes a character',
  async (length) => {
    for (const character of ['a', 'é', '語', '\ud800']) {
      const value = character.repeat(length);
      const batches = new Map([[7, [{ key: character, value, headers: { [character]: value.slice(0, 9_000) } }]]]);
      const ours = encodeProduce({ topic: 'log', batches, timeoutMs: 1, nowMs: NOW_MS });
      expect(ours.equals(await kafkajsProduce(3, 'log', batches, 1))).toBe(true);
    }
  },
);

test('a fetch request is byte for byte what kafkajs writes, in every version that is spoken', async () => {
  const limits = { maxWaitMs: 250, maxBytes: 4_194_304, maxBytesPerPartition: 1_048_576 };
  const from = new Map([
    [0, 0],
    [63, Number.MAX_SAFE_INTEGER],
    [5, 4_294_967_296],
  ]);
  const partitions = [...from].map(([partition, offset]) => {
    return { partition, fetchOffset: offset.toString(), maxBytes: limits.maxBytesPerPartition };
  });
  const topics = [{ topic: 'log', partitions }];
  for (let version = 4; version <= 11; version++) {
    const parameters = { isolationLevel: 0, maxWaitTime: 250, minBytes: 1, maxBytes: limits.maxBytes, topics };
    const ours = encodeFetch({ topic: 'log', from, limits }, version);
    expect(ours.equals(await kafkajsFetch(version, parameters))).toBe(true);
  }
});

test('the checksum is that of kafkajs and of RFC 3720, wherever the bytes begin and end', () => {
  const sum = (bytes: Buffer, from = 0, to = bytes.length): number =>
    crc32c(bytes, new Int32Array(bytes.buffer, 0, bytes.length >>> 2), from, to);
  const filled = (byte: number): Buffer => Buffer.allocUnsafeSlow(32).fill(byte);
  expect([sum(filled(0)), sum(filled(255))]).toEqual([0x8a9136aa, 0x62a8ab43]);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(200), fc.nat(200), (content, one, other) => {
      const bytes = Buffer.allocUnsafeSlow(content.length);
      bytes.set(content);
      const [from = 0, to = 0] = [one, other].map((at) => Math.min(at, bytes.length)).sort((a, b) => a - b);
      expect(sum(bytes, from, to)).toBe(kafkajsCrc32c(bytes.subarray(from, to)));
    }),
  );
});

test('texts that are no whole words survive as Unicode’s replacement character', () => {
  fc.assert(
    fc.property(texts, (value) => {
      const batches = new Map([[0, [{ key: null, value, headers: {} }]]]);
      const bytes = encodeProduce({ topic: 't', batches, timeoutMs: 1, nowMs: NOW_MS });
      expect(bytes.includes(Buffer.from(value))).toBe(true);
    }),
  );
});
