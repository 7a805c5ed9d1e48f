import { beforeAll, describe, expect, test } from 'vitest';
import { HttpHarness } from '../stand-in/http-harness.js';

let http: HttpHarness;
beforeAll(async () => {
  http = await HttpHarness.start();
  await http.fund('acme', '1000');
  await http.post('/v1/reservations', { id: 'held', amount: '10' });
});

/** Nothing that is refused may leave a trace: as many events after as before. */
const refused = async (url: string, body: string, method: 'POST' | 'PUT' = 'POST') => {
  const before = http.journal.logs.flat().length;
  const answer = await http.send(method, url, { body });
  expect(http.journal.logs.flat()).toHaveLength(before);
  return answer;
};

const NO_AMOUNTS = [
  '"-5"', '-5', '0.5', '"0.5"', '1.0', '1e3', '1E3', '"1e3"', '1e309', '"1e309"', '"NaN"', '""', '" 5"', '"5 "', '"+5"', '"05"', '"-0"', '-0', '"0x10"',
  '"9223372036854775808"', '9223372036854775808', '9007199254740992', '"99999999999999999999999"', 'null', 'true', '[]', '{}', '"٣"', '"5\\n"',
]; // prettier-ignore

describe('what is no amount is a 400 that names the field, and changes nothing', () => {
  test.each(NO_AMOUNTS)('%s', async (amount) => {
    const one = { status: 400, body: { code: 'invalid_request', field: 'amount' } };
    expect(await refused('/v1/reservations', `{"amount":${amount}}`)).toMatchObject(one);
    expect(await refused('/v1/reservations/held/finalize', `{"amount":${amount}}`)).toMatchObject(one);
    expect(await refused('/v1/accounts/acme/recharges', `{"amount":${amount}}`)).toMatchObject(one);
    const unit = { status: 400, body: { code: 'invalid_request', field: 'amounts.USD' } };
    expect(await refused('/v1/reservations', `{"amounts":{"USD":${amount}}}`)).toMatchObject(unit);
    expect(await refused('/v1/models/m/max-cost', `{"amounts":{"USD":${amount}}}`, 'PUT')).toMatchObject(unit);
    expect(await refused('/v1/accounts', `{"id":"acme/n","unit":"USD","overdraft_limit":${amount}}`)).toMatchObject({
      status: 400,
      body: { field: 'overdraft_limit' },
    });
    const batch = `{"commands":[{"op":"get","id":"held"},{"op":"reserve","amount":${amount}}]}`;
    expect(await refused('/v1/batch', batch)).toMatchObject({ status: 400, body: { field: 'commands[1].amount' } });
  });

  test.each(['NaN', 'Infinity', '+5', '05', '.5', '5.'])('%s, which is not even JSON', async (amount) => {
    expect(await refused('/v1/reservations', `{"amount":${amount}}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_json', field: 'amount' },
    });
  });

  test('a recharge of nothing', async () => {
    for (const amount of ['0', '"0"'])
      expect(await refused('/v1/accounts/acme/recharges', `{"amount":${amount}}`)).toMatchObject({ status: 400 });
  });

  test('an adjustment of −2^63, whose opposite is no amount', async () => {
    const body = '{"amount":"-9223372036854775808","reason":"x"}';
    expect(await refused('/v1/accounts/acme/adjustments', body)).toMatchObject({
      status: 400,
      body: { field: 'amount' },
    });
  });
});

const METADATA_MAX = JSON.stringify({ a: 'x'.repeat(4096 - '{"a":""}'.length) });

describe('what is malformed otherwise is a 400 that names the field', () => {
  test.each([
    ['an unknown member', 'ammount', '{"amount":1,"ammount":2}'],
    ['an unknown member named like one of every object', 'constructor', '{"amount":1,"constructor":2}'],
    ['a member given twice', 'amount', '{"amount":1,"amount":2}'],
    ['__proto__', '__proto__', '{"amount":1,"__proto__":{"level":"durable"}}'],
    ['neither amount nor model', 'amount', '{}'],
    ['amount and amounts', 'amounts', '{"amount":1,"amounts":{"USD":1}}'],
    ['no unit', 'amounts', '{"amounts":{}}'],
    ['a unit that can be none', 'amounts.usd', '{"amounts":{"usd":1}}'],
    ['an id with a blank', 'id', '{"amount":1,"id":"a b"}'],
    ['an empty id', 'id', '{"amount":1,"id":""}'],
    ['an id of 129 characters', 'id', `{"amount":1,"id":"${'x'.repeat(129)}"}`],
    ['an id with a line feed at its end', 'id', '{"amount":1,"id":"a\\n"}'],
    ['no accounts', 'accounts', '{"amount":1,"accounts":[]}'],
    [
      'nine accounts',
      'accounts',
      JSON.stringify({ amount: 1, accounts: Array.from({ length: 9 }, (_v, i) => `acme/${i}`) }),
    ],
    ['an account named twice', 'accounts', '{"amount":1,"accounts":["acme","acme"]}'],
    ['an account that can be none', 'accounts[1]', '{"amount":1,"accounts":["acme","/x"]}'],
    ['an account that ends in a slash', 'accounts[0]', '{"amount":1,"accounts":["acme/"]}'],
    ['a model with a blank', 'model', '{"model":"a b"}'],
    ['a ttl of 0', 'ttl_seconds', '{"amount":1,"ttl_seconds":0}'],
    ['a ttl beyond the longest', 'ttl_seconds', '{"amount":1,"ttl_seconds":3601}'],
    ['a ttl as a text', 'ttl_seconds', '{"amount":1,"ttl_seconds":"60"}'],
    ['a ttl with a fraction', 'ttl_seconds', '{"amount":1,"ttl_seconds":60.0}'],
    ['an unknown level', 'level', '{"amount":1,"level":"sure"}'],
    ['metadata that is no object', 'metadata', '{"amount":1,"metadata":[1]}'],
    ['metadata of more than 4096 bytes', 'metadata', `{"amount":1,"metadata":${METADATA_MAX.replace('"a"', '"ab"')}}`],
    ['metadata with a number that can not be kept', 'metadata.n', '{"amount":1,"metadata":{"n":1e309}}'],
    ['metadata with U+0000', 'metadata.n', '{"amount":1,"metadata":{"n":"\\u0000"}}'],
  ])('%s', async (_what, field, body) => {
    const answer = await refused('/v1/reservations', body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', status: 400, field } });
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(answer.body['detail']).toContain(field);
  });

  test('what is just within the bounds is accepted', async () => {
    const id = 'x'.repeat(128);
    const body = `{"id":"${id}","amount":"1","ttl_seconds":3600,"metadata":${METADATA_MAX}}`;
    expect(await http.post('/v1/reservations', body)).toMatchObject({ status: 201, body: { id } });
    expect((await http.get(`/v1/reservations/${id}`)).status).toBe(200);
  });

  test.each([
    ['amount', '/v1/reservations/held/finalize', '{}'],
    ['amounts', '/v1/reservations/held/finalize', '{"amount":1,"amounts":{"USD":1}}'],
    ['usage.prompt', '/v1/reservations/held/finalize', '{"amount":1,"usage":{"prompt":-1}}'],
    ['usage.prompt', '/v1/reservations/held/finalize', '{"amount":1,"usage":{"prompt":1.5}}'],
    ['reason', '/v1/reservations/held/refund', '{}'],
    ['reason', '/v1/reservations/held/refund', '{"reason":"Some words"}'],
    ['reason', '/v1/reservations/held/refund', '{"reason":"expired"}'],
    ['ttl_seconds', '/v1/reservations/held/extend', '{}'],
    ['id', '/v1/reservations/a%20b/refund', '{"reason":"x"}'],
    ['id', '/v1/accounts', '{"id":"acme//","unit":"USD"}'],
    ['unit', '/v1/accounts', '{"id":"acme/n"}'],
    ['unit', '/v1/accounts', '{"id":"acme/n","unit":"usd"}'],
    ['scale', '/v1/accounts', '{"id":"acme/n","unit":"USD","scale":19}'],
    ['exempt', '/v1/accounts', '{"id":"acme/n","unit":"USD","exempt":"true"}'],
    ['reference', '/v1/accounts/acme/recharges', '{"amount":1,"reference":""}'],
    ['commands', '/v1/batch', '{}'],
    ['commands', '/v1/batch', '{"commands":[]}'],
    ['commands[0].op', '/v1/batch', '{"commands":[{"op":"expire","id":"held"}]}'],
    ['commands[1].reason', '/v1/batch', '{"commands":[{"op":"get","id":"held"},{"op":"refund","id":"held"}]}'],
    ['commands[0].amount', '/v1/batch', '{"commands":[{"op":"get","id":"held","amount":1}]}'],
  ])('%s of %s %s', async (field, url, body) => {
    expect(await refused(url, body)).toMatchObject({ status: 400, body: { code: 'invalid_request', field } });
  });

  test.each([
    ['a body that is cut off', '{"amount":'],
    ['an empty body', ''],
    ['two bodies', '{} {}'],
    ['a text that is not ended', '{"amount":"'],
  ])('%s is no JSON', async (_what, body) => {
    expect(await refused('/v1/reservations', body)).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
  });

  test.each(['[]', 'null', '5', '"x"'])('%s is JSON, but no body', async (body) => {
    expect(await refused('/v1/reservations', body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  test('bytes that are not UTF-8 are refused, not replaced', async () => {
    const answer = await http.app.inject({
      method: 'POST',
      url: '/v1/reservations',
      headers: { authorization: `Bearer ${http.key}`, 'content-type': 'application/json' },
      payload: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    });
    expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_json' });
  });
});

describe('what asks for something that is not there', () => {
  test.each([
    [404, 'not_found', 'GET', '/v1/reservation'],
    [404, 'not_found', 'POST', '/'],
    [405, 'method_not_allowed', 'DELETE', '/v1/reservations/held'],
    [405, 'method_not_allowed', 'GET', '/v1/models/m/max-cost'],
    [400, 'invalid_request', 'GET', '/v1/accounts/%zz'],
  ] as const)('%s %s: %s %s', async (status, code, method, url) => {
    const answer = await http.send(method, url);
    expect(answer).toMatchObject({ status, body: { status, code } });
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  });

  test('a method that is not for an address is told which are', async () => {
    expect((await http.send('DELETE', '/v1/reservations/held')).headers['allow']).toBe('GET, HEAD');
    expect((await http.send('GET', '/v1/reservations')).headers['allow']).toBe('POST');
  });

  test('an id longer than any can be is no 500', async () => {
    expect((await http.get(`/v1/reservations/${'x'.repeat(2000)}`)).status).toBe(414);
  });

  test('a body of another type is 415', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])
      expect(
        await http.send('POST', '/v1/reservations', { body: '{"amount":1}', headers: { 'content-type': type } }),
      ).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });

  test('a body past 64 KiB is 413; a batch may have 1 MiB', async () => {
    const big = JSON.stringify({ amount: 1, metadata: { a: 'x'.repeat(70_000) } });
    expect(await refused('/v1/reservations', big)).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    const commands = Array.from({ length: 100 }, () => ({
      op: 'reserve',
      amount: '9999',
      metadata: { a: 'x'.repeat(4000) },
    }));
    const batch = await http.post('/v1/batch', { commands });
    expect(batch.status).toBe(200);
    expect(await refused('/v1/batch', JSON.stringify({ commands, x: 'x'.repeat(1024 * 1024) }))).toMatchObject({
      status: 413,
    });
    const tooMany = JSON.stringify({ commands: Array.from({ length: 101 }, () => ({ op: 'get', id: 'held' })) });
    expect(await refused('/v1/batch', tooMany)).toMatchObject({ status: 400, body: { field: 'commands' } });
  });

  test('the level fast is not offered yet, and says so; replicated is', async () => {
    const answer = await refused('/v1/reservations', '{"amount":1,"level":"fast"}');
    expect(answer).toMatchObject({ status: 503, body: { code: 'level_not_available', field: 'level' } });
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    expect((await http.post('/v1/reservations', { amount: 1, level: 'replicated' })).status).toBe(201);
  });
});
