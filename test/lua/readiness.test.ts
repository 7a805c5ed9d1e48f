import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callScript, funded, openHarness, PARTITION, reserveOf, sole } from './harness.js';
import type { Harness } from './harness.js';

let h: Harness;
beforeEach(async () => {
  h = await openHarness();
  h.decide(...funded('acme', 200n));
  await h.rebuild();
});
afterEach(() => h.close());

const info = async () => (await h.side.readiness.info([PARTITION])).get(PARTITION);

describe('ready opens a partition to holds', () => {
  test('given a checkpoint before the head, then it is behind', async () => {
    expect(await h.side.readiness.ready(PARTITION, 3)).toBe('behind');
    expect(await h.side.readiness.ready(PARTITION, 2)).toBe('ready');
  });

  test('given no checkpoint, then it says so', async () => {
    await h.raw.hdel(h.keys.meta, 'cp');
    expect(await h.side.readiness.ready(PARTITION, 0)).toBe('no_checkpoint');
  });

  test('given an epoch raised by another node, then a node of the lower one can’t open it', async () => {
    await callScript(h, 'epoch', { epoch: '7' });
    expect(await h.side.readiness.ready(PARTITION, 2)).toBe('epoch_differs');
    expect(await info()).toMatchObject({ epoch: 7, ready: false });
  });

  test('given a Redis emptied under the same run id, then a rebuild makes it ready again', async () => {
    await h.raw.unlink(h.keys.meta, h.keys.accounts, `${h.keys.accounts}:acme`);
    expect(await info()).toEqual({ partition: 0, epoch: 0, ready: false, rebuilding: false, speculations: 0, reservations: 0, accounts: 0, closings: 0 }); // prettier-ignore
    await h.rebuild();
    expect(await info()).toMatchObject({ epoch: 1, ready: true });
  });
});

describe('an epoch only goes up', () => {
  test('and what was ready under a lower one is not', async () => {
    expect(await callScript(h, 'epoch', { epoch: '0' })).toEqual(['epoch', expect.any(Number), '1']);
    expect(await callScript(h, 'epoch', { epoch: '10' })).toEqual(['epoch', expect.any(Number), '10']);
    expect(await callScript(h, 'epoch', { epoch: '9' })).toEqual(['epoch', expect.any(Number), '10']);
    expect((await info())?.ready).toBe(false);
  });
});

test('info says what there is', async () => {
  h.decide(reserveOf('r1', { requested: sole(5n) }));
  await h.apply();
  await h.side.holds.hold(PARTITION, reserveOf('r2', { requested: sole(5n) }));
  expect(await info()).toEqual({
    partition: PARTITION,
    checkpoint: { ...h.log.head, incarnation: 1 },
    epoch: 1,
    ready: true,
    rebuilding: false,
    speculations: 1,
    reservations: 1,
    accounts: 1,
    closings: 0,
  });
});

test('a sample is of one instant: buckets, checkpoint, and what each speculation took', async () => {
  await h.side.holds.hold(PARTITION, reserveOf('r1', { requested: sole(5n) }));
  expect(await h.side.reader.sample(PARTITION, ['acme', 'acme/none'])).toEqual({
    checkpoint: { ...h.log.head, incarnation: 1 },
    accounts: new Map([['acme', { available: 195n, held: 5n, used: 0n, funded: -200n }]]),
    units: new Map([['acme', 'USD']]),
    speculations: [{ tenant: 'acme', id: 'r1', taken: new Map([['acme', 5n]]) }],
  });
});
