import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { partitionOf } from '../../src/core/partition.js';
import { Follower, Relay } from '../../src/kafka/index.js';
import { compileDecodeBody } from '../../src/validation/decode-body.js';
import { benches, done, funded, reserve } from './journal-setting.js';
import type { Bench } from './journal-setting.js';
import { MemoryElections, freshTopic, positionsOn, quietLog, upTo } from './kafka-setting.js';

const databases = benches();
const running: { stop(): Promise<void> }[] = [];
const open: Bench[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
  await Promise.all(open.splice(0).map((one) => one.close()));
});
afterAll(() => databases.remove());

describe('the journal in Postgres, relayed', () => {
  test('stands on Kafka in commit order, whichever process committed first', async () => {
    const made = await databases.bench();
    open.push(made);
    const { ledger, reading } = made;
    const partitions = Array.from({ length: ledger.partitions }, (_, partition) => partition);
    const settings = await freshTopic(ledger.partitions);
    const shared = { settings, log: quietLog, ledger: ledger.ledger, partitions, reader: reading.reader };
    const relay = new Relay({ ...shared, incarnation: () => ledger.incarnation, elections: new MemoryElections() });
    const follower = new Follower({ ...shared, decode: compileDecodeBody() });
    running.push(relay, follower);
    relay.start();
    follower.start();
    // Two processes append to the same partition; the relay hears of the commits of one of them only.
    const journals = [
      made.journal({ onCommitted: (p, events) => relay.committed(p, events) }),
      made.journal(),
    ] as const;
    await funded(journals[0], 'acme', 1_000_000n);
    const appended = await Promise.all(
      Array.from({ length: 200 }, (_, i) => journals[i % 2 === 0 ? 0 : 1].append(reserve('acme', `r${i}`, 10n))),
    );
    const last = appended.reduce((a, b) => (done(a).position > done(b).position ? a : b));
    const [event] = last.events;
    await follower.confirmed(last.partition, event?.event.position ?? 0, event?.hash ?? '');
    const partition = partitionOf('acme', ledger.partitions);
    expect(await positionsOn(settings, partition)).toEqual(upTo(202));
    await vi.waitFor(() => expect(relay.status()[partition]).toMatchObject({ position: 202, lagEvents: 0 }));
  });
});
