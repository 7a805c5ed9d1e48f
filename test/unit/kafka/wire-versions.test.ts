import type { Broker } from 'kafkajs';
import { expect, test } from 'vitest';
import { sendCall } from '../../../src/kafka/client.js';
import { fetchCall } from '../../../src/kafka/wire/fetch.js';
import { produceCall } from '../../../src/kafka/wire/produce.js';

const PRODUCE = produceCall({ topic: 't', batches: new Map(), timeoutMs: 1, nowMs: 0 });
const FETCH = fetchCall({
  topic: 't',
  from: new Map(),
  limits: { maxWaitMs: 200, maxBytes: 1, maxBytesPerPartition: 1 },
});

/** What is handed to kafkajs for a broker that offers these versions. */
const handed = (minVersion: number, maxVersion: number) => {
  const range = { minVersion, maxVersion };
  const connectionPool = { send: (protocol: object) => Promise.resolve(protocol) };
  return { versions: { 0: range, 1: range }, connectionPool } as unknown as Broker;
};

test.each([
  // Kafka 0.11, 2.0, 2.3, 3.9 and 4.x, about.
  [0, 5, 5, 5],
  [0, 8, 7, 8],
  [0, 11, 7, 11],
  [3, 17, 7, 11],
  [4, 18, 7, 11],
])('a broker that offers %i to %i is asked in Produce %i and Fetch %i', async (oldest, newest, produce, fetch) => {
  const broker = handed(oldest, newest);
  expect(await sendCall(broker, PRODUCE)).toMatchObject({ request: { apiKey: 0, apiVersion: produce } });
  expect(await sendCall(broker, FETCH)).toMatchObject({
    request: { apiKey: 1, apiVersion: fetch },
    requestTimeout: 300,
  });
});

test('a broker of before 0.11, or of a time to come that forgot these versions, is refused in words', async () => {
  for (const [oldest, newest] of [
    [0, 2],
    [12, 20],
  ] as const) {
    const refused = {
      name: 'KafkaError',
      code: 'refused',
      message: expect.stringContaining('does not offer') as string,
    };
    await expect(sendCall(handed(oldest, newest), PRODUCE)).rejects.toMatchObject(refused);
    await expect(sendCall(handed(oldest, newest), FETCH)).rejects.toMatchObject(refused);
  }
});

test('a kafkajs whose brokers carry no requests of others is noticed', async () => {
  await expect(sendCall({} as Broker, PRODUCE)).rejects.toThrow('not the version');
});
