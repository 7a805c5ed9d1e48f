/** What callers decide on: the codes and their statuses, held to docs/ERRORS.md, and each of the ledger's own as it is answered. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../../src/core/ports.js';
import type { Rejection } from '../../src/core/rejection.js';
import { outcomeOf, problem, refused } from '../../src/http/errors/problem.js';
import { PROBLEMS, PROBLEM_CODES } from '../../src/http/errors/table.js';
import { InvalidInputError } from '../../src/service/ledger.js';

const ROW = /^\| `([a-z_]+)`\s*\| (\d{3})\s*\| (.+?)\s*\| (.+?)\s*\|$/;

const documented = readFileSync(new URL('../../docs/ERRORS.md', import.meta.url), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, code, status, meaning, advice] = ROW.exec(line) ?? [];
    return code === undefined ? [] : [{ code, status: Number(status), meaning, advice }];
  });

describe('docs/ERRORS.md', () => {
  test('has every code that there is, once, with its status, and no other', () => {
    const inTable = PROBLEM_CODES.map((code) => `${code} ${PROBLEMS[code].status}`);
    expect(documented.map(({ code, status }) => `${code} ${status}`).sort()).toEqual(inTable.sort());
  });

  test('says of each what a caller should do', () => {
    expect(documented.filter(({ meaning, advice }) => !meaning || !advice)).toEqual([]);
  });
});

/** One of each: the compiler asks for a new one here when a rejection joins. */
const REJECTIONS: { readonly [C in Rejection['code']]: readonly [number, Extract<Rejection, { code: C }>] } = {
  account_not_found: [404, { code: 'account_not_found', account: 'a' }],
  account_differs: [422, { code: 'account_differs', account: 'a', field: 'unit' }],
  reservation_not_found: [404, { code: 'reservation_not_found', id: 'r' }],
  id_reused: [422, { code: 'id_reused', id: 'r', field: 'amount', recorded: '65 USD' }],
  reservation_finalized: [409, { code: 'reservation_finalized', id: 'r' }],
  reservation_refunded: [409, { code: 'reservation_refunded', id: 'r', reason: 'cancelled' }],
  reservation_closed: [409, { code: 'reservation_closed', id: 'r' }],
  unit_mismatch: [422, { code: 'unit_mismatch', units: ['USD', 'TOK'] }],
  amount_missing: [422, { code: 'amount_missing', unit: 'TOK' }],
  unit_unknown: [422, { code: 'unit_unknown', unit: 'TOK' }],
  max_cost_unknown: [422, { code: 'max_cost_unknown', model: 'm', unit: 'USD' }],
  insufficient_quota: [
    429,
    { code: 'insufficient_quota', account: 'a', unit: 'USD', available: -1n, required: 2n ** 63n - 1n },
  ],
  amount_overflow: [422, { code: 'amount_overflow', account: 'a', bucket: 'used' }],
};

describe('what the ledger refuses', () => {
  test.each(Object.values(REJECTIONS))('%s %o', (status, rejection) => {
    const outcome = refused(rejection);
    expect(outcome).toMatchObject({ status, code: rejection.code });
    if (rejection.code === 'insufficient_quota') return;
    expect(outcome.body).toMatchObject({ ...rejection, status, type: `urn:holdfast:problem:${rejection.code}` });
    expect(outcome.headers?.['content-type']).toBe('application/problem+json');
    for (const value of Object.values(rejection).flat())
      if (value !== rejection.code) expect((outcome.body as { detail: string }).detail).toContain(String(value));
  });

  test('out of quota is the one with another body, amounts as decimal strings', () => {
    const { body } = refused(REJECTIONS.insufficient_quota[1]);
    expect(body).toMatchObject({
      error: {
        code: 'insufficient_quota',
        holdfast: { account: 'a', available: '-1', required: '9223372036854775807' },
      },
    });
  });
});

describe('what is away', () => {
  const codes = ['journal_unavailable', 'journal_fenced', 'journal_overloaded', 'outcome_unknown', 'replication_pending', 'level_not_available', 'stopping'] as const; // prettier-ignore

  test.each(codes)('%s is 503 with Retry-After, and keeps hosts to itself', (code) => {
    const outcome = outcomeOf(new UnavailableError(code, 'connect ECONNREFUSED 10.0.0.7:5432'));
    expect(outcome).toMatchObject({ status: 503, code });
    expect(outcome?.headers?.['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(JSON.stringify(outcome)).not.toContain('10.0.0.7');
  });
});

test('what the ledger calls bad input is a 400 that names the field', () => {
  expect(outcomeOf(new InvalidInputError('ttl_seconds', 'ttl_seconds must be less'))).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', field: 'ttl_seconds', detail: 'ttl_seconds must be less' },
  });
});

test('an error that nobody foresaw is none of these', () => {
  expect(outcomeOf(new Error('x'))).toBeUndefined();
  expect(outcomeOf('x')).toBeUndefined();
});

test('only 503 asks to come back, and every 503 does', () => {
  for (const code of PROBLEM_CODES)
    expect([code, problem(code, '').headers?.['retry-after'] !== undefined]).toEqual([
      code,
      PROBLEMS[code].status === 503,
    ]);
});
