import { execFileSync, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRedis } from '../../src/redis/index.js';
import type { OpenRedis, RedisNotice } from '../../src/redis/index.js';
import { findProgram, pathFolders } from '../../src/stack/tools.js';
import { EpochsInMemory } from '../lua/epochs-in-memory.js';

const folders = pathFolders(process.env);
const [redis, openssl] = ['redis-server', 'openssl'].map((name) => findProgram(name, folders));
// A server that was built without TLS does not know the setting, and says so before it does anything else.
const knowsTls = redis !== undefined && spawnSync(redis, ['--port', '0', '--tls-port', '0', '--maxclients', 'x']).stderr.includes('maxclients'); // prettier-ignore

const PASSWORD = 'p@ss:w/rd';
let folder = '';
const file = (name: string): string => join(folder, name);

const makeCertificates = (): void => {
  const run = (...args: string[]) => execFileSync(openssl ?? '', args, { stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  run('req', '-x509', ...key, '-keyout', file('ca.key'), '-out', file('ca.pem'), '-subj', '/CN=test authority');
  for (const name of ['server', 'client']) {
    const signed = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost']; // prettier-ignore
    run('req', '-x509', ...key, ...signed, '-keyout', file(`${name}.key`), '-out', file(`${name}.pem`), '-subj', `/CN=${name}`); // prettier-ignore
  }
};

// Skipped without openssl and a redis-server on the PATH that was built with TLS: there is nothing to talk to.
describe.skipIf(openssl === undefined || !knowsTls)('Redis behind TLS, with a user and a password', () => {
  let server: ChildProcess;
  let port = 0;
  const settings = (): OpenRedis['settings'] => ({
    url: `rediss://holdfast:${encodeURIComponent(PASSWORD)}@localhost:${port.toString()}`,
    caFile: file('ca.pem'),
    certFile: file('client.pem'),
    keyFile: file('client.key'),
  });
  const open = async (given: OpenRedis['settings']) => {
    const notices: RedisNotice[] = [];
    const epochs = new EpochsInMemory();
    const side = await openRedis({ settings: given, partitions: 2, epochs, onNotice: (n) => notices.push(n) });
    const reachable = side.isReachable(1);
    await side.stop();
    return { reachable, notices: JSON.stringify(notices) };
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-tls-'));
    makeCertificates();
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const address = probe.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
    probe.close();
    const options = { port: 0, 'tls-port': port, bind: '127.0.0.1', save: '', dir: folder };
    const tls = { 'tls-cert-file': file('server.pem'), 'tls-key-file': file('server.key'), 'tls-ca-cert-file': file('ca.pem') }; // prettier-ignore
    const args = Object.entries({ ...options, ...tls }).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const user = ['on', `>${PASSWORD}`];
    server = spawn(redis ?? '', [...args, '--user', 'holdfast', ...user, '~*', '+@all', '--user', 'default', 'off']);
    for await (const chunk of server.stdout ?? []) if (String(chunk).includes('Ready to accept')) break;
  });
  afterAll(async () => {
    server.kill('SIGKILL');
    await once(server, 'exit');
    rmSync(folder, { recursive: true, force: true });
  });

  test('is used with the authority, the certificate and the credentials', async () => {
    expect(await open(settings())).toMatchObject({ reachable: true });
  });

  test('is not used without the authority that signed it', async () => {
    const { reachable, notices } = await open({ ...settings(), caFile: file('client.pem') });
    expect(reachable).toBe(false);
    expect(notices).toMatch(/certificate/);
  });

  test('is not used without a certificate of one’s own', async () => {
    const { url } = settings();
    expect((await open({ url, caFile: file('ca.pem') })).reachable).toBe(false);
  });

  test('is refused when a file can’t be read, naming the setting', async () => {
    await expect(open({ ...settings(), keyFile: file('none') })).rejects.toMatchObject({ setting: 'redis.keyFile' });
  });
});
