import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chainHash, messageOf, openMessage } from '../../events/index.js';
import { LedgerAtRest, verifyAtRest } from './verify-setting.js';

/*
 * Whoever changes a byte of the ledger in any of its three places, with whatever rights, is found out, and verify says where.
 */

let ledger: LedgerAtRest;
beforeAll(async () => {
  ledger = await LedgerAtRest.make();
});
afterAll(() => ledger.drop());

/** A Reserved, with a Finalized behind it. */
const POSITION = 5;
const here = (): string => `partition = ${ledger.partition}`;
const last = (): number => ledger.messages.length;
const inPostgres = (what: RegExp, more: object = {}): unknown =>
  expect.objectContaining({ where: 'postgres', partition: ledger.partition, what: expect.stringMatching(what) as string, ...more }); // prettier-ignore
const onKafka = (position: number, what: RegExp): unknown =>
  expect.objectContaining({ where: 'kafka', partition: ledger.partition, position, what: expect.stringMatching(what) as string }); // prettier-ignore

/** A message with something in its body changed; its hash made to fit, or not. */
const changed = (value: string, from: string | RegExp, to: string, fitting: boolean): string => {
  const opened = openMessage(Buffer.from(value));
  if (opened === undefined) throw new Error('It is an event.');
  const body = opened.body.replace(from, to);
  expect(body).not.toBe(opened.body);
  const hash = fitting ? chainHash(opened.prevHash, body) : opened.hash;
  return messageOf({ body, prevHash: opened.prevHash, hash });
};

const at = (messages: readonly string[], position: number): string => {
  const value = messages[position - 1];
  if (value === undefined) throw new Error(`There is no position ${position}.`);
  return value;
};

test('left alone, nothing is found, shallow or deep', async () => {
  for (const deep of [false, true]) {
    const report = await verifyAtRest(ledger.config, deep);
    expect(report).toMatchObject({ postgres: 0, kafka: 0, redis: 0, kafkaDuplicates: 0, findings: [], notes: [] });
    expect(report.events).toBeGreaterThan(20);
  }
});

describe('in Postgres', () => {
  const finds = async (sql: string, finding: unknown): Promise<void> => {
    const report = await verifyAtRest(await ledger.withDatabase(sql));
    expect(report.postgres).toBeGreaterThan(0);
    expect(report.findings).toContainEqual(finding);
  };

  test('an amount changed in an account’s row: the account', () =>
    finds(
      `update holdfast.accounts set available = available + 5, used = used - 5 where account = 'acme'`,
      inPostgres(/^available is \d+, its events sum up to \d+$/, { account: 'acme' }),
    ));

  test('an amount changed in an event: its position', () =>
    finds(
      `update holdfast.events set body = replace(body, '"held":"20"', '"held":"21"') where ${here()} and position = ${POSITION}`,
      inPostgres(/the hash is not that of the body/, { position: POSITION }),
    ));

  test('an amount changed in an account’s trail: account and position', () =>
    finds(
      `update holdfast.postings set held = held + 1 where account = 'acme' and position = ${POSITION}`,
      inPostgres(/its trail there/, { account: 'acme', position: POSITION }),
    ));

  test('an event deleted: its position', () =>
    finds(
      `delete from holdfast.events where ${here()} and position = ${POSITION}`,
      inPostgres(/the event is missing/, { position: POSITION }),
    ));

  test('an event doubled, behind the head: where it stands', () =>
    finds(
      `insert into holdfast.events select partition, ${last() + 1}, hash, body from holdfast.events where ${here()} and position = ${POSITION}`,
      inPostgres(/stands behind the head/, { position: last() + 1 }),
    ));

  test('two events swapped: the first of the two positions', () =>
    finds(
      `update holdfast.events e set body = o.body, hash = o.hash from holdfast.events o
       where e.${here()} and o.${here()} and e.position in (5, 6) and o.position = 11 - e.position`,
      inPostgres(/the hash is not that of the body|stands elsewhere/, { position: POSITION }),
    ));

  test('the tail cut: where it should go on', () =>
    finds(
      `delete from holdfast.events where ${here()} and position > ${last() - 3}`,
      inPostgres(/the log ends before its head/, { position: last() - 2 }),
    ));

  test('the tail cut, and the head with it: Kafka has what the journal has not', () =>
    finds(
      `delete from holdfast.events where ${here()} and position > ${last() - 3};
       update holdfast.heads h set position = e.position, hash = e.hash from holdfast.events e
       where h.${here()} and e.${here()} and e.position = ${last() - 3}`,
      onKafka(last() - 2, /the journal has not/),
    ));

  test('a fork, with a chain that holds: the first position that differs from Kafka', async () => {
    const forged = openMessage(Buffer.from(changed(at(ledger.messages, last()), /"ttl_seconds":1200/, '"ttl_seconds":1201', true))); // prettier-ignore
    const report = await verifyAtRest(
      await ledger.withDatabase(
        `update holdfast.events set body = '${forged?.body ?? ''}', hash = '\\x${forged?.hash ?? ''}' where ${here()} and position = ${last()};
         update holdfast.heads set hash = '\\x${forged?.hash ?? ''}' where ${here()}`,
      ),
    );
    expect(report.postgres).toBe(0);
    expect(report.findings).toContainEqual(onKafka(last(), /is not the one in the journal/));
  });
});

describe('on Kafka', () => {
  const finds = async (change: (messages: string[]) => readonly string[], finding: unknown): Promise<void> => {
    const report = await verifyAtRest(await ledger.withTopic((messages) => change([...messages])));
    expect(report.postgres).toBe(0);
    expect(report.kafka).toBeGreaterThan(0);
    expect(report.findings).toContainEqual(finding);
  };

  test('an amount changed, its hash as it was: the position that is missing for it, and why', () =>
    finds(
      (all) => all.toSpliced(POSITION - 1, 1, changed(at(all, POSITION), '"held":"20"', '"held":"21"', false)),
      onKafka(
        POSITION,
        /^position 5 is missing before 6 \(the record at offset 4 .* its hash is not that of its body\)$/,
      ),
    ));

  test('an amount changed, and its hash made to fit: its position', () =>
    finds(
      (all) => all.toSpliced(POSITION - 1, 1, changed(at(all, POSITION), '"held":"20"', '"held":"21"', true)),
      onKafka(POSITION, /is not the one in the journal/),
    ));

  test('an event deleted: its position', () =>
    finds((all) => all.toSpliced(POSITION - 1, 1), onKafka(POSITION, /^position 5 is missing before 6$/)));

  test('two events swapped: both positions', () =>
    finds((all) => all.toSpliced(4, 2, at(all, 6), at(all, 5)), onKafka(POSITION, /out of order/)));

  test('the tail cut: where it should go on', () =>
    finds((all) => all.slice(0, -3), onKafka(last() - 2, /are not on Kafka$/)));

  test('a fork: the first position that differs from the journal', () =>
    finds(
      (all) => all.toSpliced(-1, 1, changed(at(all, last()), /"ttl_seconds":1200/, '"ttl_seconds":1201', true)),
      onKafka(last(), /is not the one in the journal/),
    ));

  test('an event doubled: no drift, since consumers drop it, but counted, and its position said', async () => {
    const report = await verifyAtRest(await ledger.withTopic((all) => [...all, at(all, POSITION)]));
    expect(report).toMatchObject({ postgres: 0, kafka: 0, redis: 0, kafkaDuplicates: 1 });
    expect(report.notes).toEqual([onKafka(POSITION, /once more/)]);
  });
});
