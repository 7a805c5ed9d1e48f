import { afterEach, beforeEach, expect, test } from 'vitest';
import { funded, openHarness, PARTITION, reserveOf, sole } from '../lua/harness.js';
import type { Harness } from '../lua/harness.js';

let h: Harness;
beforeEach(async () => {
  h = await openHarness();
  h.decide(...funded('acme', 1000n));
  await h.rebuild();
});
afterEach(() => h.close());

const hold = (id: string) => h.side.holds.hold(PARTITION, reserveOf(id, { requested: sole(1n) }));
const available = async () => (await h.sample()).accounts.get('acme')?.available;

test('scripts flushed between 100 reserves: no error, each held once', async () => {
  for (let i = 0; i < 100; i++) {
    if (i % 10 === 0) await h.raw.script('FLUSH');
    expect(await hold(`r${i.toString()}`)).toMatchObject({ kind: 'held' });
  }
  expect(await available()).toBe(900n);
});

test('scripts flushed while 500 calls are under way: no error, each held once', async () => {
  const all = Array.from({ length: 500 }, (_, i) => hold(`r${i.toString()}`));
  const flushes = Array.from({ length: 50 }, () => h.raw.script('FLUSH'));
  const outcomes = await Promise.all(all);
  await Promise.all(flushes);
  expect(outcomes.map(({ kind }) => kind)).toEqual(Array.from({ length: 500 }, () => 'held'));
  expect(await available()).toBe(500n);
});

test('scripts flushed before an apply, a rebuild and the calls of one burst', async () => {
  h.decide(reserveOf('r1', { requested: sole(5n) }));
  await h.raw.script('FLUSH');
  expect(await h.apply()).toEqual({ kind: 'applied', checkpoint: 3 });
  await h.raw.script('FLUSH');
  await h.rebuild();
  await h.raw.script('FLUSH');
  const burst = [h.side.readiness.info([PARTITION]), hold('r2'), h.side.balances.checkpoint(PARTITION), hold('r3')];
  await Promise.all(burst);
  expect(await available()).toBe(993n);
});
