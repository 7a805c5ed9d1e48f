import { describe, test } from 'vitest';
import { opened, recharged } from './facts.js';
import { given } from './given.js';
import { open } from './orders.js';

describe('opening an account', () => {
  test('makes an account whose buckets are all 0', () => {
    given()
      .when(open())
      .makes(opened())
      .answers({ kind: 'account', account: { account: 'acme', available: 0n, held: 0n, used: 0n, funded: 0n } });
  });

  test('keeps its unit, scale, overdraft, exemption and metadata', () => {
    const metadata = { plan: 'gold' };
    given()
      .when(open({ account: 'acme/q', unit: 'TOK', scale: 0, overdraftLimit: 7n, exempt: true, metadata }))
      .makes(opened({ account: 'acme/q', unit: 'TOK', scale: 0, overdraft_limit: 7n, exempt: true, metadata }))
      .answers({ account: { unit: 'TOK', scale: 0, overdraftLimit: 7n, exempt: true, metadata } });
  });

  test('a second time is a replay, which shows the balance as it is now', () => {
    given(opened(), recharged(100n))
      .when(open())
      .replays(2)
      .answers({ account: { account: 'acme', available: 100n } });
  });

  test('a second time with other metadata is a replay too, and keeps the first', () => {
    given(opened({ metadata: { plan: 'gold' } }))
      .when(open({ metadata: { plan: 'tin' } }))
      .replays(1)
      .answers({ account: { metadata: { plan: 'gold' } } });
  });

  test.each([
    ['unit', open({ unit: 'TOK' })],
    ['scale', open({ scale: 2 })],
    ['overdraft_limit', open({ overdraftLimit: 1n })],
    ['exempt', open({ exempt: true })],
    ['unit', open({ exempt: true, scale: 2, unit: 'TOK' })],
  ])('a second time with another %s is refused, naming it', (field, command) => {
    given(opened()).when(command).isRejected({ code: 'account_differs', account: 'acme', field });
  });
});
