import { describe, expect, test } from 'vitest';
import type { Level, StoredEvent } from '../../../events/index.js';
import type { Command } from '../../../src/core/command.js';
import { execute } from '../../../src/core/decide/index.js';
import { UnavailableError } from '../../../src/core/ports.js';
import { initialState } from '../../../src/core/state.js';
import { LedgerService } from '../../../src/service/ledger-service.js';
import type { LedgerParts } from '../../../src/service/ledger-service.js';
import { emptyTail } from '../core/given.js';
import { sole } from '../core/orders.js';

interface Setting {
  readonly level?: Level;
  readonly kafka?: { away: boolean };
  /** Redis does not show in time what was committed. */
  readonly slowRedis?: boolean;
}

/** A service over a journal in memory; what is waited for is written down. */
const start = ({ level = 'durable', kafka = { away: false }, slowRedis = false }: Setting = {}) => {
  const state = initialState();
  const tail = emptyTail();
  const log: StoredEvent[] = [];
  const waited: string[] = [];
  const unasked = (): never => {
    throw new Error('Not asked here.');
  };
  const parts: LedgerParts = {
    identity: { ledger: tail.ledger, partitions: 1, incarnation: 1 },
    holds: { hold: () => Promise.resolve({ kind: 'ask_journal', why: 'no Redis' }), release: unasked, settle: unasked },
    journal: {
      append: (command: Command) => {
        const { decision, events } = execute(state, tail, command, 0);
        log.push(...events);
        return Promise.resolve({ decision, partition: 0, events });
      },
    },
    reader: {
      heads: unasked,
      read: (_partition, after, limit) => Promise.resolve(log.slice(after, after + limit)),
      account: (name) => Promise.resolve(state.accounts.get(name)),
      reservation: unasked,
      funding: unasked,
      maxCosts: (models) =>
        Promise.resolve([...state.maxCosts.values()].filter((m) => models?.includes(m.model) ?? true)),
      trail: () => Promise.resolve({ entries: [] }),
      accountAt: (name) => {
        const account = state.accounts.get(name);
        return Promise.resolve(account === undefined ? undefined : { account, position: tail.position, asOfMs: 0 });
      },
      reservationHistory: () => Promise.resolve(undefined),
    },
    confirmer: {
      confirmed: (partition, position, hash) => {
        if (kafka.away) return Promise.reject(new UnavailableError('replication_pending', 'not in time'));
        expect(hash).toBe(log[position - 1]?.hash);
        waited.push(`kafka ${partition} ${position}`);
        return Promise.resolve();
      },
    },
    balances: {
      visible: (partition, position) => {
        waited.push(`redis ${partition} ${position}`);
        return Promise.resolve(!slowRedis);
      },
      require: (partition, position) => waited.push(`required ${partition} ${position}`),
    },
    defaults: { ttlSeconds: 600, ttlMaxSeconds: 3600, holdPolicy: 'larger', level },
  };
  return { service: new LedgerService(parts), waited, log };
};

const reserve = { tenant: 'acme', id: 'r1', amount: sole(60n) };
const finalize = { tenant: 'acme', id: 'r1', amount: sole(40n) };

const funded = async (of?: Parameters<typeof start>[0]) => {
  const started = start(of);
  await started.service.openAccount({ account: 'acme', unit: 'USD' });
  await started.service.recharge({ tenant: 'acme', account: 'acme', id: 'paid-1', amount: 100n });
  started.waited.length = 0;
  return started;
};

describe('what an answer waits for', () => {
  test('a durable command: nothing but its commit', async () => {
    const { service, waited } = await funded();
    expect(await service.reserve(reserve)).toMatchObject({ ok: true, replay: false, position: 3 });
    expect(await service.finalize(finalize)).toMatchObject({ ok: true, replay: false, position: 4 });
    expect(waited).toEqual([]);
  });

  test('a recharge and an adjustment: that Redis shows the balance, a replay’s too', async () => {
    const { service, waited } = await funded();
    await service.recharge({ tenant: 'acme', account: 'acme', id: 'paid-1', amount: 100n });
    await service.adjust({ tenant: 'acme', account: 'acme', id: 'a1', amount: -1n, reason: 'wrong' });
    expect(waited).toEqual(['redis 0 2', 'redis 0 3']);
  });

  test('a recharge that Redis does not show in time: the next reserve here must not be answered from before it', async () => {
    const { service, waited } = await funded({ slowRedis: true });
    await service.recharge({ tenant: 'acme', account: 'acme', id: 'paid-2', amount: 100n });
    expect(waited).toEqual(['redis 0 3', 'required 0 3']);
  });

  test('a replicated reserve: that Kafka has its event; a replay of it too', async () => {
    const { service, waited } = await funded();
    await service.reserve({ ...reserve, level: 'replicated' });
    expect(await service.reserve({ ...reserve, level: 'replicated' })).toMatchObject({ ok: true, replay: true });
    expect(waited).toEqual(['kafka 0 3', 'kafka 0 3']);
  });

  test('a retry may ask for more than the first: then it waits for Kafka', async () => {
    const { service, waited } = await funded();
    await service.reserve(reserve);
    await service.reserve({ ...reserve, level: 'replicated' });
    expect(waited).toEqual(['kafka 0 3']);
  });

  test('what closes a replicated reservation: that Kafka has it, whatever the request says', async () => {
    const { service, waited } = await funded();
    await service.reserve({ ...reserve, level: 'replicated' });
    await service.extend({ tenant: 'acme', id: 'r1', ttlSeconds: 900 });
    await service.finalize({ ...finalize, level: 'durable' });
    expect(waited).toEqual(['kafka 0 3', 'kafka 0 4', 'kafka 0 5']);
  });

  test('every command of a ledger whose level is replicated: that Kafka has it', async () => {
    const { service, waited } = await funded({ level: 'replicated' });
    await service.reserve({ ...reserve, level: 'durable' });
    await service.finalize({ ...finalize, level: 'durable' });
    expect(waited).toEqual(['kafka 0 3', 'kafka 0 4']);
  });

  test('a rejection: nothing', async () => {
    const { service, waited } = await funded();
    const answer = await service.reserve({ ...reserve, amount: sole(101n), level: 'replicated' });
    expect(answer).toMatchObject({ ok: false, rejection: { code: 'insufficient_quota' } });
    expect(waited).toEqual([]);
  });

  test('a confirmation that does not come in time is raised; the same id again waits for it', async () => {
    const kafka = { away: true };
    const { service, log, waited } = await funded({ kafka });
    const pending = { code: 'replication_pending' };
    await expect(service.reserve({ ...reserve, level: 'replicated' })).rejects.toMatchObject(pending);
    await expect(service.reserve(reserve)).rejects.toMatchObject(pending);
    kafka.away = false;
    expect(await service.reserve(reserve)).toMatchObject({ ok: true, replay: true });
    expect(waited).toEqual(['kafka 0 3']);
    expect(log).toHaveLength(3);
  });
});

describe('the level fast, which is not offered yet', () => {
  test('is answered by the configured one, which promises more', async () => {
    const { service } = await funded();
    expect(await service.reserve({ ...reserve, level: 'fast' })).toMatchObject({ reservation: { level: 'durable' } });
    expect(await service.finalize({ ...finalize, level: 'fast' })).toMatchObject({ ok: true });
  });

  test('is refused where it would be the configured one', async () => {
    const { service } = await funded();
    const { service: fast } = start({ level: 'fast' });
    await expect(fast.reserve(reserve)).rejects.toMatchObject({ code: 'level_not_available' });
    await expect(service.finalize({ ...finalize, level: 'never' as Level })).rejects.toThrow(/level must be one of/);
  });
});

describe('another tenant’s account', () => {
  test('is not found, as if it did not exist', async () => {
    const { service } = await funded();
    const notFound = { ok: false, rejection: { code: 'account_not_found', account: 'acme' } };
    expect(await service.account('other', 'acme')).toEqual(notFound);
    expect(await service.trail('other', 'acme', { order: 'oldest_first', limit: 10 })).toEqual(notFound);
    expect(await service.account('acme', 'acme')).toMatchObject({ ok: true, account: { available: 100n } });
    expect(await service.account('acme', 'acme/none')).toMatchObject({ ok: false });
  });
});

describe('models', () => {
  test('are set by an operator and listed', async () => {
    const { service } = await funded();
    expect(await service.maxCosts('gpt')).toEqual([]);
    const set = await service.setMaxCost({ model: 'gpt', amounts: new Map([['USD', 65n]]) });
    expect(set).toMatchObject({ ok: true, maxCosts: [{ model: 'gpt', amount: 65n, revision: 1 }] });
    expect(await service.models()).toMatchObject([{ model: 'gpt' }]);
  });
});
