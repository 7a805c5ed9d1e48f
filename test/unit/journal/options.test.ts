import { expect, test } from 'vitest';
import { clientConfig } from '../../../src/journal/options.js';

const CA = '-----BEGIN CERTIFICATE-----';

test.each([
  ['postgres://u:p@h/d', undefined, false],
  ['postgres://u:p@h/d?sslmode=disable', CA, false],
  ['postgres://u:p@h/d', CA, { ca: CA, rejectUnauthorized: true }],
  ['postgres://u:p@h/d?sslmode=verify-full', undefined, { rejectUnauthorized: true }],
])('%s with authority %s', (url, ca, ssl) => {
  expect(clientConfig({ url, ...(ca === undefined ? {} : { ca }) }).ssl).toEqual(ssl);
});

test('require encrypts, and checks the authority when one is given; verify-ca always does; neither checks the name', () => {
  const sslOf = (mode: string, ca?: string) =>
    clientConfig({ url: `postgres://h/d?sslmode=${mode}`, ...(ca === undefined ? {} : { ca }) }).ssl;
  expect(sslOf('require')).toMatchObject({ rejectUnauthorized: false });
  expect(sslOf('require', CA)).toMatchObject({ rejectUnauthorized: true, ca: CA });
  expect(sslOf('verify-ca')).toMatchObject({ rejectUnauthorized: true });
  expect(sslOf('verify-ca')).toHaveProperty('checkServerIdentity');
  expect(sslOf('verify-full')).not.toHaveProperty('checkServerIdentity');
});

test('a mode that promises nothing is refused, and so is what is no address; neither says the password', () => {
  expect(() => clientConfig({ url: 'postgres://u:secret@h/d?sslmode=prefer' })).toThrow(/sslmode=prefer/);
  expect(() => clientConfig({ url: 'no address: secret' })).toThrow(/HOLDFAST_POSTGRES_URL is not an address/);
  for (const url of ['postgres://u:secret@h/d?sslmode=prefer', 'no address: secret'])
    expect(() => clientConfig({ url })).toThrow(expect.not.stringContaining('secret'));
});

test('the driver is not left to read the TLS parameters again in its own way', () => {
  const { connectionString } = clientConfig({ url: 'postgres://u:p@h:1/d?sslmode=require&connect_timeout=3' });
  expect(connectionString).toBe('postgres://u:p@h:1/d?connect_timeout=3');
});
