import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { funded, openHarness, PARTITION, reserveOf, sole } from './harness.js';
import type { Harness } from './harness.js';

let h: Harness;
beforeEach(async () => {
  h = await openHarness();
  h.decide(...funded('acme', 200n), ...funded('acme/team', 200n));
  await h.rebuild();
});
afterEach(() => h.close());

const R1 = reserveOf('r1', { accounts: ['acme', 'acme/team'], requested: sole(65n) });
const hold = async (command = R1): Promise<string> => {
  const outcome = await h.side.holds.hold(PARTITION, command);
  if (outcome.kind !== 'held') throw new Error(`The hold came to ${outcome.kind}.`);
  return outcome.attempt;
};
const release = (attempt: string) => h.side.holds.release(PARTITION, 'acme', 'r1', attempt);
const settle = (position: number) => h.side.holds.settle(PARTITION, 'acme', 'r1', position);
const available = async () => (await h.sample()).accounts.get('acme')?.available;
const untouched = { available: 200n, held: 0n, used: 0n, funded: -200n };

describe('release: the journal refused it', () => {
  test('gives back what it took, from every account, once', async () => {
    const attempt = await hold();
    await release(attempt);
    await release(attempt);
    const { accounts, speculations } = await h.sample();
    expect([...accounts.values()]).toEqual([untouched, untouched]);
    expect(speculations).toEqual([]);
  });

  test('is left alone while another attempt has claimed it', async () => {
    const first = await hold();
    const second = await hold();
    await release(first);
    expect(await available()).toBe(135n);
    await release(second);
    expect(await available()).toBe(200n);
  });

  test('leaves alone what is applied', async () => {
    const attempt = await hold();
    h.decide(R1);
    await h.apply();
    await release(attempt);
    expect(await available()).toBe(135n);
  });
});

describe('settle: the append found the id known', () => {
  test('gives it back when its position is applied already', async () => {
    h.decide(R1, { kind: 'refund', tenant: 'acme', id: 'r1', reason: 'failed' });
    await h.apply();
    await h.raw.del(h.keys.holds); // as an hour after it was closed
    await hold();
    expect(await available()).toBe(135n);
    await settle(5);
    expect(await available()).toBe(200n);
  });

  test('leaves it to the apply when its position is still to come', async () => {
    await hold();
    const { decision } = h.decide(R1);
    await settle(decision.outcome === 'done' ? decision.position : 0);
    expect(await available()).toBe(135n);
    await h.apply();
    expect(await available()).toBe(135n);
    expect((await h.sample()).speculations).toEqual([]);
  });
});

describe('void: nobody answered for it', () => {
  test('is no orphan within 30 s', async () => {
    await hold();
    expect(await h.side.orphans.orphans(PARTITION, 10)).toEqual([]);
    expect(await h.side.orphans.voidOrphan(PARTITION, 'acme', 'r1')).toBe(false);
    expect(await available()).toBe(135n);
  });

  test('is given back after 30 s on Redis’s clock, once', async () => {
    await hold();
    const text = (await h.raw.hget(h.keys.specs, 'acme/r1')) ?? '';
    const since = Number(text.slice(0, text.indexOf('|')));
    await h.raw.hset(h.keys.specs, 'acme/r1', text.replace(since.toString(), (since - 30_001).toString()));
    expect(await h.side.orphans.orphans(PARTITION, 10)).toEqual([{ tenant: 'acme', id: 'r1' }]);
    expect(await h.side.orphans.voidOrphan(PARTITION, 'acme', 'r1')).toBe(true);
    expect(await h.side.orphans.voidOrphan(PARTITION, 'acme', 'r1')).toBe(false);
    expect(await available()).toBe(200n);
  });

  test('finds every one of many, and no more than asked for', async () => {
    const all = await openHarness({ orphanAgeMs: 0 });
    all.decide(...funded('acme', 100_000n));
    await all.rebuild();
    const ids = Array.from({ length: 700 }, (_, i) => `r${i.toString()}`);
    await Promise.all(ids.map((id) => all.side.holds.hold(PARTITION, reserveOf(id, { requested: sole(1n) }))));
    const found = (await all.side.orphans.orphans(PARTITION, 1000)).map(({ id }) => id);
    expect(found.sort()).toEqual(ids.sort());
    expect(await all.side.orphans.orphans(PARTITION, 5)).toHaveLength(5);
    await all.close();
  });
});

describe('during a rebuild the balances are about to be written anew', () => {
  test.each([
    ['release', (attempt: string) => release(attempt)],
    ['settle', () => settle(1)],
  ])('%s only forgets the speculation', async (_, end) => {
    const attempt = await hold();
    const rebuild = await h.side.rebuild.begin(PARTITION);
    await rebuild.accounts([...h.log.state.accounts.values()]);
    await end(attempt);
    expect(await rebuild.end({ ...h.log.head, incarnation: 1 })).toEqual({ deducted: 0, dropped: 0 });
    expect([...(await h.sample()).accounts.values()]).toEqual([untouched, untouched]);
  });
});
