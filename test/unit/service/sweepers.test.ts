import { describe, expect, test } from 'vitest';
import type { Command } from '../../../src/core/command.js';
import type { Appended, Overdue } from '../../../src/core/ports.js';
import { UnavailableError } from '../../../src/core/ports.js';
import { sweepExpired } from '../../../src/service/expiry-sweeper.js';
import { sweepOrphans } from '../../../src/service/orphan-sweeper.js';
import { logOf } from '../projections/memory-balances.js';

const going = new AbortController().signal;
const over = (id: string, partition = 0): Overdue => ({ partition, tenant: 'acme', id, expiresAtMs: 0 });
const [event] = logOf(1);

/** Of each page of overdue reservations, all expire save those that others have closed since. */
const expiry = (pages: readonly (readonly Overdue[])[], closedSince: readonly string[] = []) => {
  const appended: string[] = [];
  const told: number[] = [];
  let asked = 0;
  const parts = {
    partitions: 2,
    expired: {
      expired: (partitions: readonly number[], limit: number) => {
        expect(partitions).toEqual([0, 1]);
        expect(limit).toBeLessThanOrEqual(100);
        asked += 1;
        return Promise.resolve([...(pages[asked - 1] ?? [])]);
      },
    },
    journal: {
      append: (command: Command): Promise<Appended> => {
        if (command.kind !== 'expire') throw new Error('The sweeper only expires.');
        appended.push(command.id);
        if (command.id === 'fails') return Promise.reject(new UnavailableError('journal_unavailable', 'away'));
        const decision = { outcome: 'rejected', rejection: { code: 'reservation_not_found', id: command.id } } as const;
        const events = event === undefined || closedSince.includes(command.id) ? [] : [event];
        return Promise.resolve({ decision, partition: 0, events });
      },
    },
    onExpired: (count: number) => told.push(count),
  };
  return { parts, appended, told, asked: () => asked };
};

describe('the expiry sweeper', () => {
  test('expires page after page until none is left, and tells how many', async () => {
    const { parts, appended, told } = expiry([[over('a'), over('b', 1)], [over('c')], []]);
    expect(await sweepExpired(parts, going)).toBe(3);
    expect(appended).toEqual(['a', 'b', 'c']);
    expect(told).toEqual([3]);
  });

  test('with nothing to do asks once and tells nothing', async () => {
    const { parts, told, asked } = expiry([[]]);
    expect(await sweepExpired(parts, going)).toBe(0);
    expect(asked()).toBe(1);
    expect(told).toEqual([]);
  });

  test('counts only those that the journal did expire: another may have been faster', async () => {
    const { parts } = expiry([[over('a'), over('b')], []], ['a']);
    expect(await sweepExpired(parts, going)).toBe(1);
  });

  test('does not go round for ever on reservations that can’t be expired', async () => {
    const stuck = [over('a')];
    const { parts, asked } = expiry([stuck, stuck, stuck, stuck], ['a']);
    expect(await sweepExpired(parts, going)).toBe(0);
    expect(asked()).toBe(1);
  });

  test('ends after the page that is under way when it is stopped', async () => {
    const stopping = new AbortController();
    stopping.abort();
    const { parts, asked } = expiry([[over('a')], [over('b')]]);
    expect(await sweepExpired(parts, stopping.signal)).toBe(1);
    expect(asked()).toBe(1);
  });

  test('raises what the journal raises: the next pass looks again', async () => {
    const { parts } = expiry([[over('a'), over('fails')]]);
    await expect(sweepExpired(parts, going)).rejects.toMatchObject({ code: 'journal_unavailable' });
  });
});

describe('the orphan sweeper', () => {
  const orphansOf = (found: readonly (readonly string[])[], answered: readonly string[] = []) => {
    const asked: string[] = [];
    return {
      asked,
      orphans: {
        orphans: (partition: number) => Promise.resolve((found[partition] ?? []).map((id) => ({ tenant: 'acme', id }))),
        voidOrphan: (partition: number, tenant: string, id: string) => {
          asked.push(`${partition} ${tenant} ${id}`);
          return Promise.resolve(!answered.includes(id));
        },
      },
    };
  };

  test('gives back what nobody answered for, partition by partition', async () => {
    const { orphans, asked } = orphansOf([['a'], [], ['b', 'c']]);
    expect(await sweepOrphans(orphans, 3, going)).toMatchObject({ given: 3 });
    expect(asked).toEqual(['0 acme a', '2 acme b', '2 acme c']);
  });

  test('counts only those that were still orphans when it came to them', async () => {
    const { orphans } = orphansOf([['a', 'b']], ['a']);
    expect(await sweepOrphans(orphans, 1, going)).toMatchObject({ given: 1 });
  });

  test('ends when it is stopped', async () => {
    const stopping = new AbortController();
    stopping.abort();
    const { orphans, asked } = orphansOf([['a']]);
    expect(await sweepOrphans(orphans, 1, stopping.signal)).toMatchObject({ given: 0 });
    expect(asked).toEqual([]);
  });
});
