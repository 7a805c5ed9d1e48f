import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CurrentIncarnation } from '../../src/core/incarnation.js';
import type { Checkpoint, Witness } from '../../src/core/ports.js';
import type { PostgresJournal } from '../../src/journal/index.js';
import { Fence, resumeLedger } from '../../src/journal/index.js';
import { benches, done, open, recharge, superuser } from './journal-setting.js';
import type { Bench } from './journal-setting.js';

const databases = benches();
let b: Bench;
beforeEach(async () => {
  b = await databases.bench();
});
afterEach(() => b.close());
afterAll(() => databases.remove());

const nameOf = (url: string): string => new URL(url).pathname.slice(1);
const elsewhere = (url: string): string => Object.assign(new URL(url), { pathname: '/postgres' }).href;

/** Ends every connection to the database, as a restart of Postgres does. */
const cutAll = (): Promise<unknown> =>
  superuser(
    elsewhere(b.url),
    'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
    [nameOf(b.url)],
  );

/** Keeps a copy of the database as it is now; what it returns puts the copy in its place. */
const backup = async (): Promise<() => Promise<void>> => {
  const [name, kept] = [nameOf(b.url), `${nameOf(b.url)}_kept`];
  await cutAll();
  await superuser(elsewhere(b.url), `create database ${kept} template ${name}`);
  return async () => {
    await cutAll();
    await superuser(elsewhere(b.url), `drop database ${name} with (force)`);
    await superuser(elsewhere(b.url), `alter database ${kept} rename to ${name}`);
  };
};

const witnessOf = (name: string, outlivesResume = true) => {
  const kept: { tails: readonly Checkpoint[]; away: boolean } = { tails: [], away: false };
  const witness: Witness = {
    name,
    outlivesResume,
    tails: () => (kept.away ? Promise.reject(new Error('it is away')) : Promise.resolve(kept.tails)),
  };
  return { kept, witness };
};

const fenced = (witnesses: readonly Witness[] = [], onSkipped: (witness: string) => void = () => undefined) => {
  const incarnation = new CurrentIncarnation(1);
  const fence = new Fence({ witnesses, incarnation, onSkipped });
  return { fence, incarnation, journal: b.journal({ fence }) };
};

const headOf = async (journal: PostgresJournal): Promise<Checkpoint> => {
  const { decision, partition, events } = await journal.append(recharge('acme', `r${Math.random()}`, 1n));
  if (decision.outcome !== 'done') throw new Error('refused');
  return { partition, position: decision.position, hash: events[0]?.hash ?? '', incarnation: 1 };
};

const refusal = (journal: PostgresJournal): Promise<string> =>
  journal.append(recharge('acme', `x${Math.random()}`, 1n)).then(
    () => 'appended',
    (error: unknown) => `${(error as { code: string }).code}: ${(error as Error).message}`,
  );

const resume = (log?: Witness, balances: readonly Checkpoint[] = []) =>
  resumeLedger({ postgres: { url: b.url }, log, balances });

const opensAgain = (journal: PostgresJournal): Promise<void> =>
  expect.poll(() => refusal(journal), { timeout: 10_000 }).toBe('appended');

describe('a new connection to a journal that went back', () => {
  test('is not written to by a process that had committed more; a resume ends that, with a new incarnation', async () => {
    const { journal, fence, incarnation } = fenced();
    done(await journal.append(open('acme')));
    await headOf(journal);
    const restore = await backup();
    const { partition, position } = await headOf(journal);
    await restore();
    expect(await refusal(journal)).toBe(
      `journal_fenced: The journal is fenced: this process has seen position ${position} of partition ${partition}, and the journal ends at ${position - 1}. ` +
        'Nothing is written until an operator looks (holdfast doctor) and resumes (holdfast resume).',
    );
    expect(fence.why).toMatch(/^this process has seen/);
    expect((await b.reading.reader.heads([partition]))[0]?.position).toBe(position - 1);
    const resumed = await resume(undefined, [{ partition, position, hash: 'f'.repeat(64), incarnation: 1 }]);
    expect(resumed).toMatchObject({ from: 1, incarnation: 2, lost: new Map([[partition, 1]]) });
    await opensAgain(journal);
    expect(fence.why).toBeUndefined();
    expect(incarnation.value).toBe(2);
    const [next] = await b.reading.reader.read(partition, position - 1, 1);
    expect(next?.event).toMatchObject({ position, incarnation: 2 });
  });

  test('stays closed to a process that found it so, although the log matches again before the resume', async () => {
    const { kept, witness } = witnessOf('Kafka');
    const { journal } = fenced([witness]);
    kept.tails = [{ partition: 0, position: 5, hash: 'f'.repeat(64), incarnation: 1 }];
    expect(await refusal(journal)).toMatch(
      /^journal_fenced: .*Kafka has seen position 5 of partition 0, and the journal ends at 0/,
    );
    kept.tails = [];
    await expect
      .poll(() => refusal(journal), { interval: 400 })
      .toMatch(/^journal_fenced: .*Kafka has seen position 5/);
    await resume(witness);
    await expect.poll(() => refusal(journal)).toMatch(/^appended/);
  });
});

describe('a witness', () => {
  test('that has another event at a position is a fork', async () => {
    const { kept, witness } = witnessOf('Kafka');
    const { journal } = fenced([witness]);
    done(await journal.append(open('acme')));
    const head = await headOf(journal);
    kept.tails = [{ ...head, hash: 'f'.repeat(64) }];
    await cutAll();
    expect(await refusal(journal)).toMatch(
      new RegExp(
        `Kafka has seen another event at position ${head.position} of partition ${head.partition} than the journal has: a fork`,
      ),
    );
    await expect(resume(witness)).rejects.toThrow(
      /a fork\. Nothing was changed\. Fill the journal first: holdfast restore --from kafka/,
    );
  });

  test('that agrees lets through; one that is away is left out, and that is told', async () => {
    const { kept, witness } = witnessOf('Kafka');
    const skipped: string[] = [];
    const { journal } = fenced([witness], (name) => skipped.push(name));
    done(await journal.append(open('acme')));
    kept.tails = [await headOf(journal)];
    await cutAll();
    expect(await refusal(journal)).toBe('appended');
    expect(skipped).toEqual([]);
    kept.away = true;
    await cutAll();
    expect(await refusal(journal)).toBe('appended');
    expect(skipped).not.toEqual([]);
    await expect(resume(witness)).rejects.toThrow(/Kafka can't say what it has \(it is away\).*--without-kafka/);
  });

  test('that speaks of balances counts over an empty ledger too, and for nothing after a resume', async () => {
    const { kept, witness } = witnessOf('Redis', false);
    const { fence, journal } = fenced([witness]);
    kept.tails = [{ partition: 0, position: 9, hash: 'f'.repeat(64), incarnation: 1 }];
    expect(fence.open).toBe(false);
    expect(await refusal(journal)).toMatch(/Redis has seen position 9/);
    expect(await resume(undefined, kept.tails)).toMatchObject({
      why: 'Redis has seen position 9 of partition 0, and the journal ends at 0',
      lost: new Map([[0, 9]]),
    });
    await expect
      .poll(
        () =>
          journal.append(open('acme')).then(
            () => fence.open,
            () => false,
          ),
        { timeout: 10_000 },
      )
      .toBe(true);
  });
});

describe('a database in another place than the ledger was left in', () => {
  test.each([
    ['timeline = timeline + 1', /on timeline 1, and the ledger was left on 2/],
    ['system_identifier = system_identifier + 1', /another Postgres cluster/],
  ])('(%s) is not written to until an operator resumes', async (change, why) => {
    const { journal } = fenced();
    done(await journal.append(open('acme')));
    await b.sql(`update holdfast.ledger set ${change}`);
    await cutAll();
    expect(await refusal(journal)).toMatch(why);
    expect(await resume()).toMatchObject({ from: 1, incarnation: 2 });
    await opensAgain(journal);
  });

  test('nor one that has a lower incarnation than this process knows; the resumed one is higher than any seen', async () => {
    const { journal, incarnation } = fenced();
    done(await journal.append(open('acme')));
    incarnation.noted(4);
    await cutAll();
    expect(await refusal(journal)).toMatch(/has incarnation 1 of the ledger, and this process has seen 4/);
    const seen = [{ partition: 0, position: 0, hash: 'f'.repeat(64), incarnation: 4 }];
    expect(await resume(undefined, seen)).toMatchObject({ from: 1, incarnation: 5 });
    await opensAgain(journal);
  });
});
