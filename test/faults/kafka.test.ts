import { afterAll, beforeAll, expect, test } from 'vitest';
import { UnavailableError } from '../../src/core/ports.js';
import { KafkaLink, readTopic } from '../../src/kafka/index.js';
import { kafkaSettings } from '../../src/compose/options.js';
import { createLogger } from '../../src/logging.js';
import { startPrivate } from '../stack/private-services.js';
import type { PrivateService } from '../stack/private-services.js';
import {
  LedgerUnderFault,
  NO_DRIFT,
  dropLedger,
  newLedgerConfig,
  sharedServices,
  until,
} from './ledger-under-fault.js';
import { allPartitions } from '../../src/core/partition.js';

let kafka: PrivateService;
let ledger: LedgerUnderFault;

beforeAll(async () => {
  kafka = await startPrivate('kafka');
  ledger = await LedgerUnderFault.open(await newLedgerConfig({ ...sharedServices(), kafkaBrokers: [kafka.url] }));
});
afterAll(async () => {
  await ledger.close();
  await kafka.remove();
  await dropLedger(sharedServices(), ledger.config);
});

/** What a consumer sees that drops by position: per partition, in the topic's order. */
const consumed = async (): Promise<ReadonlyMap<number, readonly number[]>> => {
  const seen = new Map<number, number[]>();
  const link = new KafkaLink(kafkaSettings(ledger.config), createLogger({ level: 'silent' }));
  const { ledger: id, partitions } = ledger.holdfast.identity;
  await readTopic({
    link,
    ledger: id,
    partitions: allPartitions(partitions),
    onMessages: (partition, messages) => {
      const positions = seen.get(partition) ?? [];
      seen.set(partition, positions);
      for (const { position } of messages) if (position > (positions.at(-1) ?? 0)) positions.push(position);
      return Promise.resolve();
    },
  });
  await link.close();
  return seen;
};

test('Kafka stopped and back: every position once, in order, and only replicated commands waited', async () => {
  await ledger.openAccount('acme', 10_000n);
  const replicated = { tenant: 'acme', id: 'sure', amount: { kind: 'sole', amount: 5n }, level: 'replicated' } as const;
  expect((await ledger.holdfast.ledger.reserve({ ...replicated, id: 'before' })).ok).toBe(true);

  await kafka.kill9();
  for (let n = 0; n < 50; n += 1) expect((await ledger.reserve('acme', `r${n}`, 10n)).ok).toBe(true);
  const pending = ledger.holdfast.ledger.reserve(replicated);
  await expect(pending).rejects.toThrow(UnavailableError);
  await expect(pending).rejects.toMatchObject({ code: 'replication_pending' });

  await kafka.restart();
  await until('the same id is answered once Kafka has it', async () => {
    const again = await ledger.holdfast.ledger.reserve(replicated).catch(() => undefined);
    return again?.ok === true && again.replay;
  });
  const heads = await ledger.holdfast.reading.reader.heads();
  await until('Kafka has everything', async () => {
    const seen = await consumed();
    return heads.every(({ partition, position }) => (seen.get(partition)?.at(-1) ?? 0) >= position);
  });
  for (const positions of (await consumed()).values())
    expect(positions).toEqual(Array.from({ length: positions.length }, (_, n) => n + 1));
  expect(await ledger.verify()).toMatchObject(NO_DRIFT);
}, 120_000);
