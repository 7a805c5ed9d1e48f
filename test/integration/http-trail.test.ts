import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { HttpHarness } from '../stand-in/http-harness.js';

const EVENTS = 25;
let http: HttpHarness;
beforeAll(async () => {
  http = await HttpHarness.start();
  await http.fund('acme', '1000');
  for (let i = 3; i <= EVENTS; i++) {
    http.journal.nowMs += 1000;
    await http.post('/v1/reservations', {
      id: `r${i}`,
      amount: '1',
      metadata: { text: '"position":"7","partition":' },
    });
  }
});

interface Entry {
  readonly position: number;
  readonly hash: string;
  readonly prevhash: string;
  readonly time: string;
  readonly balance_after: { readonly available: string };
}

const page = async (query: string): Promise<{ entries: readonly Entry[]; next: string | undefined }> => {
  const { status, body } = await http.get(`/v1/accounts/acme/events?${query}`);
  expect(status).toBe(200);
  return { entries: body['events'] as Entry[], next: body['next_cursor'] as string | undefined };
};

const upwards = Array.from({ length: EVENTS }, (_none, i) => i + 1);

describe('an account’s trail', () => {
  test.each([
    ['oldest_first', upwards],
    ['newest_first', [...upwards].reverse()],
  ])('%s: pages by cursor give every event once, in order', async (order, expected) => {
    const seen: number[] = [];
    let cursor = '';
    do {
      const { entries, next } = await page(`order=${order}&limit=7${cursor}`);
      seen.push(...entries.map((e) => e.position));
      expect(entries.length).toBeLessThanOrEqual(7);
      cursor = next === undefined ? '' : `&cursor=${next}`;
    } while (cursor !== '');
    expect(seen).toEqual(expected);
  });

  test('has the balance right after each event', async () => {
    const { entries } = await page('limit=4');
    expect(entries.map((e) => e.balance_after.available)).toEqual(['0', '1000', '999', '998']);
  });

  test('is bounded by times: from included, to excluded', async () => {
    const { entries } = await page('from=2026-03-01T12:00:02Z&to=2026-03-01T12:00:04Z');
    expect(entries.map((e) => e.time)).toEqual(['2026-03-01T12:00:02.000Z', '2026-03-01T12:00:03.000Z']);
  });

  test('carries the chain: whoever has the events can work the hashes out', async () => {
    const { entries } = await page('limit=1000');
    const added = ['prevhash', 'hash', 'balance_after'];
    for (const { hash, prevhash, ...rest } of entries) {
      const event = Object.entries(rest).filter(([name]) => !added.includes(name));
      const body = JSON.stringify({ ...Object.fromEntries(event), position: String(rest.position) });
      const bytes = Buffer.concat([Buffer.from(prevhash, 'hex'), Buffer.from(body)]);
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(hash);
    }
  });

  test('comes as NDJSON when asked: all of it, an event a line', async () => {
    const answer = await http.get('/v1/accounts/acme/events?limit=4', { headers: { accept: 'application/x-ndjson' } });
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    const lines = answer.text.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Entry).position)).toEqual(upwards);
    const { entries } = await page('limit=1000');
    expect(lines.map((line) => JSON.parse(line) as Entry)).toEqual(entries);
  });

  test('of an account that is not there is a problem in NDJSON’s place too', async () => {
    const headers = { accept: 'application/x-ndjson' };
    expect(await http.get('/v1/accounts/acme%2Fnone/events', { headers })).toMatchObject({
      status: 404,
      body: { code: 'account_not_found' },
    });
  });

  test.each([
    ['limit', 'limit=0'],
    ['limit', 'limit=1001'],
    ['limit', 'limit=x'],
    ['order', 'order=up'],
    ['from', 'from=now'],
    ['to', 'to=2026-03-01'],
    ['cursor', 'cursor=abc'],
    ['cursor', `order=newest_first&cursor=${Buffer.from('o5').toString('base64url')}`],
  ])('refuses a wrong %s: %s', async (field, query) => {
    expect(await http.get(`/v1/accounts/acme/events?${query}`)).toMatchObject({ status: 400, body: { field } });
  });
});
