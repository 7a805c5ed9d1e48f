import { describe, expect, test } from 'vitest';
import type { ApplyOutcome } from '../../../src/core/redis-ports.js';
import { BalancesProjection } from '../../../projections/balances.js';
import { MemoryBalances, MemoryLog, logOf } from './memory-balances.js';

const LOG = logOf(500);
const events = (from: number, to: number) => LOG.slice(from - 1, to);
const positions = (from: number, to: number) => events(from, to).map(({ event }) => event.position);

interface Setting {
  readonly store?: MemoryBalances;
  readonly journal?: MemoryLog;
}

const start = ({ store = new MemoryBalances(), journal = new MemoryLog(LOG) }: Setting = {}) => {
  const stuck: ApplyOutcome['kind'][] = [];
  const errors: unknown[] = [];
  const projection = new BalancesProjection({
    store,
    reader: journal,
    incarnation: () => 1,
    onStuck: (_partition, why) => stuck.push(why),
    onError: (_partition, error) => errors.push(error),
    visibleTimeoutMs: 50,
  });
  return { projection, store, journal, stuck, errors };
};

/** A Redis without a checkpoint. */
const unready = (): MemoryBalances => {
  const store = new MemoryBalances();
  store.position = undefined;
  return store;
};

/** A promise to be fulfilled by hand. */
const gate = (): { readonly promise: Promise<void>; readonly open: () => void } => {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
};

describe('events that follow each other', () => {
  test('are applied in order, without asking the journal', async () => {
    const { projection, store, journal } = start();
    projection.offer(0, events(1, 2));
    projection.offer(0, events(3, 5));
    await projection.take(0, events(6, 6));
    expect(store.applied).toEqual(positions(1, 6));
    expect(journal.reads).toBe(0);
  });

  test('that come while a call is under way go together in the next', async () => {
    const { projection, store } = start();
    const { promise, open } = gate();
    store.hold = promise;
    const first = projection.take(0, events(1, 1));
    for (let n = 2; n <= 50; n += 1) projection.offer(0, events(n, n));
    open();
    await first;
    expect(store.applied).toEqual(positions(1, 50));
    expect(store.calls).toBe(2);
  });

  test('go in runs that keep a script short', async () => {
    const { projection, store } = start();
    await projection.take(0, events(1, 450));
    expect(store.applied).toEqual(positions(1, 450));
    expect(store.calls).toBe(3);
  });

  test('of one partition do not wait for another’s', async () => {
    const { projection, store } = start();
    const { promise, open } = gate();
    store.hold = promise;
    const blocked = projection.take(0, events(1, 1));
    store.hold = undefined;
    await projection.take(1, events(1, 1));
    expect(store.applied).toEqual([1]);
    open();
    await blocked;
  });
});

describe('events that come again, late, or with a gap', () => {
  test('are applied once, whoever brings them again', async () => {
    const { projection, store } = start();
    await projection.take(0, events(1, 5));
    await projection.take(0, events(3, 8));
    await projection.take(0, events(1, 8));
    expect(store.applied).toEqual(positions(1, 8));
  });

  test('twice in one run are applied once', async () => {
    const { projection, store } = start();
    await projection.take(0, [...events(1, 3), ...events(2, 5)]);
    expect(store.applied).toEqual(positions(1, 5));
  });

  test('after a gap are preceded by what the journal has', async () => {
    const { projection, store, journal } = start({ journal: new MemoryLog(LOG, 8) });
    await projection.take(0, events(1, 2));
    await projection.take(0, events(7, 8));
    expect(store.applied).toEqual(positions(1, 8));
    expect(journal.reads).toBe(1);
  });

  test('to a Redis that is further than this process knew are skipped', async () => {
    const { projection, store } = start({ store: new MemoryBalances(10) });
    await projection.take(0, events(3, 12));
    expect(store.applied).toEqual([11, 12]);
  });

  test('to a Redis that went back are preceded by all that it lost', async () => {
    const { projection, store } = start({ journal: new MemoryLog(LOG, 21) });
    await projection.take(0, events(1, 20));
    store.position = 4;
    store.applied.length = 0;
    await projection.take(0, events(21, 21));
    expect(store.applied).toEqual(positions(5, 21));
  });

  test('that the journal does not have are never applied', async () => {
    const { projection, store } = start({ journal: new MemoryLog(LOG, 2) });
    await projection.take(0, events(1, 2));
    await projection.take(0, events(4, 5));
    expect(store.applied).toEqual([1, 2]);
  });

  test('that come while the journal is asked are not lost when it had no more', async () => {
    const { projection, store, journal } = start({ journal: new MemoryLog(LOG, 2) });
    const { promise, open } = gate();
    await projection.take(0, events(1, 2));
    journal.hold = promise;
    const caughtUp = projection.catchUp(0);
    await expect.poll(() => journal.reads).toBe(1);
    journal.committed = 3;
    projection.offer(0, events(3, 3));
    open();
    await caughtUp;
    expect(store.applied).toEqual([1, 2, 3]);
  });

  test('beyond what may wait are dropped here and fetched from the journal', async () => {
    const long = logOf(6000);
    const { projection, store, journal } = start({ journal: new MemoryLog(long) });
    const { promise, open } = gate();
    store.hold = promise;
    const first = projection.take(0, long.slice(0, 1));
    for (let n = 1; n < 6000; n += 100) projection.offer(0, long.slice(n, n + 100));
    open();
    await first;
    expect(store.position).toBe(6000);
    expect(store.applied).toHaveLength(6000);
    expect(journal.reads).toBeGreaterThan(0);
  });
});

describe('catching up', () => {
  test('after a restart goes on from the checkpoint that Redis has', async () => {
    const { projection, store } = start({ store: new MemoryBalances(300) });
    await projection.catchUp(0);
    expect(store.applied).toEqual(positions(301, 500));
  });

  test('does not end at a run that is short because its bodies are large', async () => {
    const journal = new MemoryLog(LOG);
    journal.most = 30;
    const { projection, store } = start({ journal });
    await projection.catchUp(0);
    expect(store.applied).toEqual(positions(1, 500));
  });

  test('of a Redis that went back, unseen by this process, starts where Redis stands', async () => {
    const { projection, store } = start();
    await projection.take(0, events(1, 500));
    store.position = 100;
    await projection.catchUp(0);
    expect(store.position).toBe(500);
  });
});

describe('a partition that can not be applied to', () => {
  test.each<ApplyOutcome['kind']>(['not_ready', 'fork', 'stale_incarnation', 'overflow'])(
    'for %s is told, and nothing is tried again by itself',
    async (kind) => {
      const { projection, store, stuck } = start({ journal: new MemoryLog(LOG, 301) });
      store.instead = { kind } as ApplyOutcome;
      await projection.take(0, events(1, 300));
      expect(stuck).toEqual([kind]);
      expect(store.calls).toBe(1);
      store.instead = undefined;
      await projection.take(0, events(301, 301));
      expect(store.applied).toEqual(positions(1, 301));
    },
  );

  test('without a checkpoint is told when it is to catch up', async () => {
    const { projection, stuck, journal } = start({ store: unready() });
    await projection.catchUp(0);
    expect(stuck).toEqual(['not_ready']);
    expect(journal.reads).toBe(0);
  });

  test('for Redis is away is no news: the next event, or a catch-up, brings it all', async () => {
    const { projection, store, stuck, errors } = start({ journal: new MemoryLog(LOG, 11) });
    store.instead = { kind: 'unreachable', why: 'ECONNREFUSED' };
    await projection.take(0, events(1, 10));
    expect({ stuck, errors }).toEqual({ stuck: [], errors: [] });
    store.instead = undefined;
    await projection.take(0, events(11, 11));
    expect(store.applied).toEqual(positions(1, 11));
  });

  test('for the journal is away is told, and works again with the next event', async () => {
    const journal = new MemoryLog(LOG, 7);
    journal.fails = new Error('away');
    const { projection, store, errors } = start({ journal });
    await projection.take(0, events(5, 6));
    expect(errors).toEqual([journal.fails]);
    journal.fails = undefined;
    await projection.take(0, events(7, 7));
    expect(store.applied).toEqual(positions(1, 7));
  });
});

describe('visible', () => {
  test('is true at once for what was applied', async () => {
    const { projection } = start();
    await projection.take(0, events(1, 5));
    expect(await projection.visible(0, 5)).toBe(true);
  });

  test('waits for what is being applied', async () => {
    const { projection, store } = start();
    const { promise, open } = gate();
    store.hold = promise;
    projection.offer(0, events(1, 5));
    const seen = projection.visible(0, 5);
    open();
    expect(await seen).toBe(true);
  });

  test('fetches from the journal what nobody offered', async () => {
    const { projection, store } = start();
    expect(await projection.visible(0, 7)).toBe(true);
    expect(store.position).toBeGreaterThanOrEqual(7);
  });

  test('is false at once while the partition is not ready', async () => {
    const { projection, stuck } = start({ store: unready() });
    expect(await projection.visible(0, 1)).toBe(false);
    expect(stuck).toEqual(['not_ready']);
  });

  test('is false in time when Redis does not answer', async () => {
    const { projection, store } = start();
    const { promise, open } = gate();
    store.hold = promise;
    projection.offer(0, events(1, 1));
    expect(await projection.visible(0, 1)).toBe(false);
    open();
    await projection.stop();
  });

  test('is false for a position that the log has not reached', async () => {
    const { projection } = start();
    expect(await projection.visible(0, 501)).toBe(false);
  });
});

describe('stop', () => {
  test('resolves when what was taken is applied, and takes no more', async () => {
    const { projection, store } = start();
    const { promise, open } = gate();
    store.hold = promise;
    projection.offer(0, events(1, 5));
    const stopped = projection.stop();
    open();
    await stopped;
    projection.offer(0, events(6, 6));
    expect(store.applied).toEqual(positions(1, 5));
    expect(await projection.visible(0, 6)).toBe(false);
  });
});
