import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doctorExit, doctorText } from '../../src/cli/doctor.js';
import { examine } from '../../src/compose/doctor.js';
import type { DoctorReport } from '../../src/compose/doctor.js';
import type { Config } from '../../src/config/settings.js';
import { DOCTOR_FINDINGS } from '../../src/recovery/doctor-findings.js';
import type { DoctorCode } from '../../src/recovery/doctor-findings.js';
import { configureTopic, freshTopic, settingsFor } from './kafka-setting.js';
import { LedgerAtRest } from './verify-setting.js';

/* The doctor says in words what is wrong and what mends it; whatever is away is one of its findings, never a crash. */

let ledger: LedgerAtRest;
beforeAll(async () => {
  ledger = await LedgerAtRest.make();
});
afterAll(() => ledger.drop());

const codes = ({ findings }: DoctorReport): DoctorCode[] => findings.map(({ code }) => code);
const here = (): string => `partition = ${ledger.partition}`;
const last = (): number => ledger.messages.length;
const NOWHERE = '127.0.0.1:1';

/** What is found, with where; and the exit code goes with it. */
const finds = async (config: Config, ...expected: DoctorCode[]): Promise<DoctorReport> => {
  const report = await examine(config);
  expect(codes(report)).toEqual(expected);
  expect(doctorExit(report)).toBe(1);
  for (const { mend } of report.findings) expect(doctorText(report)).toContain(mend.split(' ')[0]);
  return report;
};

test('a ledger that is well: nothing, exit 0', async () => {
  const report = await examine(ledger.config);
  expect(report).toEqual({ journal: true, findings: [] });
  expect(doctorExit(report)).toBe(0);
  expect(doctorText(report)).toMatch(/^Nothing is wrong/);
});

describe('a service is away', () => {
  test('Postgres: exit 3, no secret in the words, and the others are looked at all the same', async () => {
    const config = {
      ...ledger.config,
      postgres: { ...ledger.config.postgres, url: `postgres://me:secret@${NOWHERE}/x` },
    };
    const report = await examine(config);
    expect(codes(report)).toEqual(['postgres_unreachable']);
    expect(JSON.stringify(report)).not.toContain('secret');
    expect(doctorExit(report)).toBe(3);
  });

  test('Redis', () =>
    finds({ ...ledger.config, redis: { ...ledger.config.redis, url: `redis://${NOWHERE}` } }, 'redis_unreachable'));

  test('Kafka', () =>
    finds({ ...ledger.config, kafka: { ...ledger.config.kafka, brokers: [NOWHERE] } }, 'kafka_unreachable'));
});

describe('the database', () => {
  test('went back behind Kafka and Redis: restore from Kafka, then resume', async () => {
    const config = await ledger.withDatabase(
      `delete from holdfast.events where ${here()} and position > ${last() - 2};
       update holdfast.heads h set position = e.position, hash = e.hash from holdfast.events e
       where h.${here()} and e.${here()} and e.position = ${last() - 2}`,
    );
    const { findings } = await finds(config, 'kafka_ahead', 'redis_ahead');
    expect(findings[0]).toMatchObject({ partitions: [ledger.partition], mend: expect.stringContaining('restore --from kafka') as string }); // prettier-ignore
  });

  test('lost its last events, and not its heads', async () => {
    const config = await ledger.withDatabase(`delete from holdfast.events where ${here()} and position = ${last()}`);
    expect(codes(await examine(config))).toContain('head_differs');
  });

  const cases: readonly (readonly [what: string, sql: string, code: DoctorCode])[] = [
    ['whose log may be changed', 'alter table holdfast.events disable trigger events_append_only', 'append_only_off'],
    ['whose role may change the log', 'grant update on holdfast.events to holdfast_writer', 'writer_rights'],
    ['whose role may not append', 'revoke insert on holdfast.postings from holdfast_writer', 'writer_rights'],
    ['in another cluster', 'update holdfast.ledger set system_identifier = 7', 'cluster_changed'],
    ['of an earlier release', 'delete from holdfast.migrations where number = (select max(number) from holdfast.migrations)', 'schema_outdated'], // prettier-ignore
    ['of a later release', 'update holdfast.ledger set oldest_program = 99', 'program_outdated'],
    ['of another ledger', `update holdfast.ledger set name = 'other'`, 'ledger_differs'],
  ];
  test.each(cases)('%s', async (_what, sql, code) => {
    await finds(await ledger.withDatabase('select', sql), code);
  });

  test('that was never set up', async () => {
    const config = await ledger.withDatabase('select', 'drop schema holdfast cascade');
    expect(codes(await examine(config))).toContain('schema_missing');
  });
});

describe('the topic', () => {
  const withTopic = (topic: string): Config => ({ ...ledger.config, kafka: { ...ledger.config.kafka, topic } });

  test('is not there', () => finds(withTopic('nowhere'), 'topic_missing'));

  test('has another number of partitions', async () => {
    const { topic } = await freshTopic(2);
    await finds(withTopic(topic), 'topic_partitions');
  });

  test('would lose events', async () => {
    const config = await ledger.withTopic((all) => all);
    await configureTopic(settingsFor(config.kafka.brokers, config.kafka.topic), 'retention.ms', '1000000');
    const { findings } = await finds(config, 'topic_setting');
    expect(findings[0]?.what).toContain('retention.ms is 1000000');
  });

  test('lacks its end, and nobody relays it', async () => {
    await finds(await ledger.withTopic((all) => all.slice(0, -2)), 'kafka_behind');
  });

  test('lacks its beginning', async () => {
    await finds(await ledger.withTopic((all) => all.slice(2)), 'kafka_beginning');
  });
});

describe('Redis', () => {
  const hurt = async (field: string, value: string | undefined, code: DoctorCode): Promise<void> => {
    const meta = ledger.key('meta');
    const before = (await ledger.redis.hget(meta, field)) ?? '';
    if (value === undefined) await ledger.redis.hdel(meta, field);
    else await ledger.redis.hset(meta, field, value);
    const report = await examine(ledger.config);
    if (before === '') await ledger.redis.hdel(meta, field);
    else await ledger.redis.hset(meta, field, before);
    expect(report.findings.map(({ code: one, partitions }) => [one, partitions])).toContainEqual([
      code,
      [ledger.partition],
    ]);
  };

  test('has no checkpoint', () => hurt('cp', undefined, 'redis_empty'));
  test('has applied another event', () => hurt('h', '0'.repeat(64), 'redis_forked'));
  test('does not get on', () => hurt('cp', '1', 'redis_behind'));
  test('is ahead of the journal', () => hurt('cp', '1000', 'redis_ahead'));
  test('is being rebuilt', () => hurt('rb', 'a-token', 'redis_rebuilding'));
  test('is not open to holds', () => hurt('ready', '-1', 'redis_not_ready'));
  test('knows a later incarnation', () => hurt('inc', '9', 'incarnation_behind'));
});

test('docs/ERRORS.md tells of every code', () => {
  const doc = readFileSync(new URL('../../docs/ERRORS.md', import.meta.url), 'utf8');
  expect(Object.keys(DOCTOR_FINDINGS).filter((code) => !doc.includes(`| \`${code}\` `))).toEqual([]);
});
