import { expect, test } from 'vitest';
import { toKafkaError } from '../../../src/kafka/client.js';
import { errorOfNumber } from '../../../src/kafka/wire/error-codes.js';
import { decodeProduced } from '../../../src/kafka/wire/produce.js';
import { createErrorFromCode } from './kafkajs-codec.js';

test('an error by number is what kafkajs would have made of it', () => {
  for (let number = 1; number <= 100; number++)
    expect([number, errorOfNumber(number).code]).toEqual([number, toKafkaError(createErrorFromCode(number)).code]);
});

test('names of errors are the protocol’s', () => {
  for (let number = 1; number <= 88; number++) {
    const [, name = ''] = /\((.*)\)\.$/.exec(errorOfNumber(number).message) ?? [];
    if (!name.startsWith('error')) expect(createErrorFromCode(number)).toHaveProperty('type', name);
  }
  expect(errorOfNumber(10).message).toBe('Kafka: a batch is larger than the topic takes (MESSAGE_TOO_LARGE).');
  expect(errorOfNumber(999).message).toBe('Kafka: the broker refused (error 999).');
});

/** A Produce answer for partitions 4 and 5, of which the second has this error. */
const produced = (version: number, error: number, throttleMs = 0): Buffer => {
  const partition = (number: number, code: number, offset: bigint): Buffer => {
    const bytes = Buffer.alloc(version >= 5 ? 30 : 22);
    bytes.writeInt32BE(number, 0);
    bytes.writeInt16BE(code, 4);
    bytes.writeBigInt64BE(offset, 6);
    return bytes;
  };
  const head = Buffer.from([0, 0, 0, 1, 0, 1, 116, 0, 0, 0, 2]);
  const tail = Buffer.alloc(4);
  tail.writeInt32BE(throttleMs);
  return Buffer.concat([head, partition(4, 0, 2n ** 40n), partition(5, error, error === 0 ? 9n : -1n), tail]);
};

test.each([3, 4, 5, 6, 7])('a Produce answer of version %i gives the offset of each batch', (version) => {
  const answer = produced(version, 0, 70);
  const { value, throttleMs } = decodeProduced(answer, version);
  expect([...value]).toEqual([
    [4, 2 ** 40],
    [5, 9],
  ]);
  // From version 6 on it is the client that is silent for so long.
  expect(throttleMs).toBe(version >= 6 ? 70 : 0);
  for (let length = 0; length < answer.length; length++)
    expect(() => decodeProduced(answer.subarray(0, length), version)).toThrow('ends too early');
});

test.each([
  [3, 'topic_missing'],
  [10, 'too_large'],
  [18, 'too_large'],
  [19, 'unreachable'],
  [29, 'refused'],
])('error %i of one partition is its own: %s', (error, code) => {
  const { value } = decodeProduced(produced(7, error), 7);
  expect(value.get(4)).toBe(2 ** 40);
  expect(value.get(5)).toMatchObject({ name: 'KafkaError', code });
});
