import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AMOUNT_MAX } from '../../events/index.js';
import { RebuildLostError } from '../../src/core/ports.js';
import type { Checkpoint, Rebuild } from '../../src/core/ports.js';
import type { Account } from '../../src/core/state.js';
import { callScript, funded, openHarness, PARTITION, reserveOf, sole } from './harness.js';
import type { Harness } from './harness.js';

let h: Harness;
beforeEach(async () => {
  h = await openHarness();
  h.decide(...funded('acme', 200n), ...funded('acme/team', 300n));
  await h.rebuild();
});
afterEach(() => h.close());

const begin = () => h.side.rebuild.begin(PARTITION);
const accounts = (): Account[] => [...h.log.state.accounts.values()];
const head = (): Checkpoint => ({ ...h.log.head, incarnation: 1 });
const hold = (id: string, amount: bigint, names = ['acme']) =>
  h.side.holds.hold(PARTITION, reserveOf(id, { accounts: names, requested: sole(amount) }));
const superseded = expect.objectContaining({ reason: 'superseded' }) as unknown;
const lost = async (step: Promise<unknown>): Promise<unknown> =>
  step.then(
    () => 'not lost',
    (error: unknown) => (error instanceof RebuildLostError ? error : Promise.reject(error as Error)),
  );

describe('a rebuild writes what the journal says', () => {
  test('given a Redis that is wrong, then it is right again', async () => {
    h.decide(reserveOf('r1', { requested: sole(65n) }), reserveOf('r2', { requested: sole(10n) }), {
      kind: 'finalize',
      tenant: 'acme',
      id: 'r2',
      cost: sole(9n),
    });
    await h.raw.hset(`${h.keys.accounts}:acme`, { sp: '999', he: '1', us: '3' });
    await h.raw.hset(`${h.keys.accounts}:acme/ghost`, 'un', 'USD', 'sp', '5');
    await h.raw.sadd(h.keys.accounts, 'acme/ghost');
    await h.rebuild();
    expect((await h.sample()).accounts.get('acme')).toEqual({ available: 126n, held: 65n, used: 9n, funded: -200n });
    expect(await h.raw.exists(`${h.keys.accounts}:acme/ghost`)).toBe(0);
    expect(await hold('r1', 65n)).toEqual({ kind: 'known', reservation: h.log.state.reservations.get('acme/r1') });
    expect(await hold('r2', 10n)).toEqual({ kind: 'known', reservation: h.log.state.reservations.get('acme/r2') });
  });

  test('goes on where the snapshot ends', async () => {
    await h.rebuild();
    h.decide(reserveOf('r1', { requested: sole(65n) }));
    expect(await h.apply()).toEqual({ kind: 'applied', checkpoint: 5 });
  });

  test('given more accounts than one script drops and takes, then all are there', async () => {
    for (let i = 0; i < 1200; i++) h.decide(...funded(`acme/n${i.toString()}`, 0n));
    await h.rebuild();
    await h.rebuild();
    expect(await h.raw.scard(h.keys.accounts)).toBe(1202);
    const names = new Set<string>();
    let cursor = '0';
    do {
      const page = await h.side.reader.accountNames(PARTITION, cursor);
      for (const name of page?.names ?? []) names.add(name);
      cursor = page?.cursor ?? '0';
    } while (cursor !== '0');
    expect(names.size).toBe(1202);
  });
});

describe('speculations live through a rebuild', () => {
  test('given one that the journal does not know, then it is deducted', async () => {
    await hold('r1', 65n);
    const rebuild = await begin();
    expect(rebuild.speculations).toEqual([{ tenant: 'acme', id: 'r1' }]);
    await rebuild.accounts(accounts());
    expect(await rebuild.end(head())).toEqual({ deducted: 1, dropped: 0 });
    expect((await h.sample()).accounts.get('acme')).toMatchObject({ available: 135n, held: 65n });
  });

  test('given one that the journal knows, then it counts once', async () => {
    await hold('r1', 65n);
    h.decide(reserveOf('r1', { requested: sole(65n) }));
    await h.rebuild();
    const { accounts: found, speculations } = await h.sample();
    expect(found.get('acme')).toMatchObject({ available: 135n, held: 65n });
    expect(speculations).toEqual([]);
  });

  test('given one that can’t be deducted, then it is dropped and leaves no trace', async () => {
    await hold('r1', 65n, ['acme', 'acme/team']);
    await hold('r2', 5n, ['acme/team']);
    const rebuild = await begin();
    const [acme, team] = accounts();
    if (acme === undefined || team === undefined) throw new Error('Two accounts were opened.');
    await rebuild.accounts([acme, { ...team, available: 0n, held: AMOUNT_MAX - 10n }]);
    expect(await rebuild.end(head())).toEqual({ deducted: 1, dropped: 1 });
    const sample = await h.sample();
    expect(sample.speculations.map((s) => s.id)).toEqual(['r2']);
    expect(sample.accounts.get('acme')).toMatchObject({ available: 200n, held: 0n });
    expect(sample.accounts.get('acme/team')).toMatchObject({ available: -5n, held: AMOUNT_MAX - 5n });
  });

  test('given one whose account is gone, then it is dropped', async () => {
    await hold('r1', 65n, ['acme/team']);
    const rebuild = await begin();
    await rebuild.accounts(accounts().slice(0, 1));
    expect(await rebuild.end(head())).toEqual({ deducted: 0, dropped: 1 });
    expect(await h.raw.exists(`${h.keys.accounts}:acme/team`)).toBe(0);
  });
});

describe('a rebuild is fenced', () => {
  test('given that it has begun, then holds and applies are refused until its end, and no balance is read', async () => {
    const rebuild = await begin();
    h.decide(reserveOf('r1', { requested: sole(65n) }));
    expect(await hold('r2', 1n)).toEqual({ kind: 'ask_journal', why: 'rebuilding' });
    expect(await h.side.balances.apply(PARTITION, 1, h.log.after(4))).toEqual({ kind: 'not_ready' });
    expect(await h.side.readiness.ready(PARTITION, 0)).toBe('rebuilding');
    expect(await h.side.reader.sample(PARTITION, ['acme'])).toBeUndefined();
    const info = (await h.side.readiness.info([PARTITION])).get(PARTITION);
    expect(info).toMatchObject({ rebuilding: true, ready: false });
    await rebuild.accounts(accounts());
    await rebuild.end(head());
    expect((await h.sample()).accounts.get('acme')?.available).toBe(135n);
  });

  test('given that another has begun, then the first is refused at every step', async () => {
    const first = await begin();
    const second = await begin();
    const steps: ((rebuild: Rebuild) => Promise<unknown>)[] = [
      (r) => r.accounts(accounts()),
      (r) => r.dropKnown([{ tenant: 'acme', id: 'r1' }]),
      (r) => r.end(head()),
    ];
    for (const step of steps) expect(await lost(step(first))).toEqual(superseded);
    await second.accounts(accounts());
    await second.end(head());
    expect((await h.sample()).accounts.get('acme')?.available).toBe(200n);
    for (const step of steps) expect(await lost(step(second))).toEqual(superseded);
  });

  test('given a chunk out of order, twice, or one too few, then it is refused', async () => {
    await callScript(h, 'rebuild_begin', { token: 't' });
    const chunk = (step: string) => callScript(h, 'rebuild_chunk', { token: 't', step }, ['known', 'acme/r1', '']);
    const end = { token: 't', cp: '4', hash: h.log.head.hash, inc: '1' };
    const words = [];
    for (const answer of [
      await chunk('1'),
      await chunk('0'),
      await chunk('0'),
      await callScript(h, 'rebuild_end', { ...end, steps: '2' }),
      await chunk('1'),
      await callScript(h, 'rebuild_end', { ...end, steps: '2' }),
    ])
      words.push(answer[0]);
    expect(words).toEqual(['superseded', 'taken', 'superseded', 'superseded', 'taken', 'ended']);
  });

  test('given a snapshot from before a restore, then it is refused', async () => {
    h.decide(reserveOf('r1', { requested: sole(65n) }));
    await h.side.balances.apply(PARTITION, 2, h.log.after(4));
    const rebuild = await begin();
    await rebuild.accounts(accounts());
    expect(await lost(rebuild.end(head()))).toEqual(superseded);
  });
});
