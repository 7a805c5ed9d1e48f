import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { AMOUNT_MAX, AMOUNT_MIN } from '../../events/index.js';
import { boolArray, hashArray, int4Array, int8Array, textArray } from '../../src/journal/binary.js';
import { Session } from '../../src/journal/session.js';
import { call } from '../../src/journal/statement.js';
import type { Statement } from '../../src/journal/statement.js';

const echo = (name: string, type: string): Statement<string | undefined> => ({
  name,
  text: `select value::text from unnest($1::${type}[]) with ordinality as n(value, n) order by n`,
  read: (row) => row.optionalText(0),
});

const texts = echo('echo_texts', 'text');
const int8s = echo('echo_int8s', 'bigint');
const int4s = echo('echo_int4s', 'int');
const bools = echo('echo_bools', 'bool');
const hashes = echo('echo_hashes', 'bytea');
const fails: Statement<number> = { name: 'fails', text: 'select 1 / $1::int', read: (row) => row.int(0) };
const many: Statement<number> = {
  name: 'many',
  text: 'select * from generate_series(1, $1::int)',
  read: (row) => row.int(0),
};

let session: Session;
beforeAll(async () => {
  const statements = [texts, int8s, int4s, bools, hashes, fails, many];
  session = await Session.open(
    { url: inject('postgresUrl') },
    { statements, idleInTransactionMs: 10_000, asWriter: false },
  );
});
afterAll(() => session.close());

test('what is sent in binary form arrives as it was', async () => {
  const words = ['', 'plain', undefined, 'NULL', '"{},\\', 'ünïcödé 𝄞', 'x'.repeat(100_000)];
  const numbers = [0, -1, 2 ** 32, -(2 ** 32) - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, undefined];
  const amounts = [0n, -1n, AMOUNT_MAX, AMOUNT_MIN, 2n ** 32n];
  const hash = '00ff'.repeat(16);
  const answers = await session.run(
    call(texts, textArray(words)),
    call(int8s, int8Array([...numbers, ...amounts])),
    call(int4s, int4Array([0, -1, 2 ** 31 - 1, -(2 ** 31)])),
    call(bools, boolArray([true, false])),
    call(hashes, hashArray([hash])),
    call(texts, textArray([])),
  );
  expect(answers).toEqual([
    words,
    [...numbers, ...amounts].map((value) => value?.toString()),
    ['0', '-1', '2147483647', '-2147483648'],
    ['true', 'false'],
    [`\\x${hash}`],
    [],
  ]);
});

test('the first refusal of a round trip skips the rest, and the connection goes on', async () => {
  await expect(session.run(call(many, '3'), call(fails, '0'), call(many, '3'))).rejects.toMatchObject({
    name: 'StatementError',
    code: '22012',
  });
  expect(await session.run(call(fails, '1'))).toEqual([[1]]);
});

test('a parameter that can’t be written fails its call, before anything was sent', async () => {
  await expect(session.run(call(many, '3'), call(hashes, hashArray(['no hash'])))).rejects.toMatchObject({
    name: 'UnsendableError',
  });
  expect(await session.run(call(many, '3'))).toEqual([[1, 2, 3]]);
});

test('calls made at once answer in order, each its own', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => session.run(call(many, n.toString()), call(texts, textArray([n.toString()])))),
  );
  expect(answers.map(([rows, [word]]) => [rows.length, word])).toEqual(
    Array.from({ length: 20 }, (_, n) => [n, n.toString()]),
  );
});
