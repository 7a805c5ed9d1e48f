import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { byUnit, funded, openHarness, PARTITION, reserveOf, sole } from './harness.js';
import type { Harness } from './harness.js';

let h: Harness;
beforeEach(async () => {
  h = await openHarness();
});
afterEach(() => h.close());

const hold = (...given: Parameters<typeof reserveOf>) => h.side.holds.hold(PARTITION, reserveOf(...given));

describe('a hold takes from every account, or from none', () => {
  test('given 200, when 65 is reserved, then 65 is held and 135 left', async () => {
    h.decide(...funded('acme', 200n));
    await h.rebuild();
    expect(await hold('r1', { requested: sole(65n) })).toMatchObject({
      kind: 'held',
      amounts: new Map([['USD', 65n]]),
    });
    const { accounts } = await h.sample();
    expect(accounts.get('acme')).toEqual({ available: 135n, held: 65n, used: 0n, funded: -200n });
  });

  test('given a short quota in another unit, then the refusal names it and nothing is taken', async () => {
    h.decide(...funded('acme', 200n), ...funded('acme/quota', 10n, { unit: 'TOK' }));
    await h.rebuild();
    const requested = byUnit({ USD: 65n, TOK: 11n });
    const outcome = await hold('r1', { accounts: ['acme', 'acme/quota'], requested });
    expect(outcome).toEqual({ kind: 'refused', account: 'acme/quota', unit: 'TOK', available: 10n, required: 11n });
    const { accounts, speculations } = await h.sample();
    expect(accounts.get('acme')?.available).toBe(200n);
    expect(speculations).toEqual([]);
  });
});
