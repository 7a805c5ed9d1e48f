import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { HttpLimits } from '../../src/http/index.js';
import { HttpHarness } from '../stand-in/http-harness.js';

let open: HttpHarness | undefined;
afterEach(() => open?.app.close());

const listen = async (limits: Partial<HttpLimits> = {}): Promise<{ http: HttpHarness; port: number }> => {
  const http = await HttpHarness.start(limits);
  open = http;
  await http.fund('acme', '1000');
  await http.app.listen({ port: 0, host: '127.0.0.1' });
  return { http, port: (http.app.server.address() as AddressInfo).port };
};

/** A connection by hand: what arrives is gathered as text. */
class Line {
  received = '';
  private constructor(private readonly socket: Socket) {
    socket.setEncoding('utf8').on('data', (text: string) => (this.received += text));
    socket.on('error', () => undefined);
  }

  static async to(port: number): Promise<Line> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new Line(socket);
  }

  write(text: string): void {
    this.socket.write(text);
  }

  async until(text: string): Promise<void> {
    while (!this.received.includes(text)) await once(this.socket, 'data');
  }

  async closed(): Promise<string> {
    if (!this.socket.closed) await once(this.socket, 'close');
    return this.received;
  }

  end(): void {
    this.socket.destroy();
  }
}

const reserve = (key: string, id: string): string => {
  const body = JSON.stringify({ id, amount: '1' });
  return `POST /v1/reservations HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};

const connectionsOf = (http: HttpHarness): Promise<number> =>
  new Promise((resolve, reject) =>
    http.app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );

/** Makes the journal wait at its next append, until it is let go. */
const holdJournal = (http: HttpHarness): { reached: Promise<void>; letGo: () => void } => {
  const append = http.journal.append.bind(http.journal);
  let letGo = (): void => undefined;
  let reach = (): void => undefined;
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  const reached = new Promise<void>((resolve) => (reach = resolve));
  http.journal.append = async (command) => {
    reach();
    await gate;
    return append(command);
  };
  return { reached, letGo };
};

describe('a stop', () => {
  test('answers what is under way, closes its connection, and takes no new one', async () => {
    const { http, port } = await listen();
    const journal = holdJournal(http);
    const underWay = await Line.to(port);
    underWay.write(reserve(http.key, 'r1'));
    await journal.reached;
    const closing = http.app.close();
    const late = await Line.to(port).catch(() => undefined);
    expect(late === undefined ? '' : await late.closed()).toBe('');
    journal.letGo();
    const answer = await underWay.closed();
    expect(answer).toMatch(/^HTTP\/1\.1 201 /);
    expect(answer.toLowerCase()).toContain('connection: close');
    await closing;
    expect(http.journal.state.reservations.has('acme/r1')).toBe(true);
  });

  test('does not wait for connections that are kept open and idle', async () => {
    const { http, port } = await listen();
    const line = await Line.to(port);
    line.write(reserve(http.key, 'r1'));
    await line.until('"position"');
    await http.app.close();
    expect(await line.closed()).toContain('201 Created');
  });

  test('answers 503 to a request that was on its way when it began, and is not ready any more', async () => {
    const { http, port } = await listen();
    const [command, ready] = await Promise.all([Line.to(port), Line.to(port)]);
    const text = reserve(http.key, 'r1');
    command.write(text.slice(0, 40));
    ready.write('GET /readyz HTTP/1.1\r\nhost: x\r\n');
    while ((await connectionsOf(http)) < 2) await turn();
    // Its answer says that what was written before it has arrived as well.
    const probe = await Line.to(port);
    probe.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    await probe.closed();
    const closing = http.app.close();
    command.write(text.slice(40));
    ready.write('\r\n');
    const refused = await command.closed();
    expect(refused).toMatch(/^HTTP\/1\.1 503 .*"code":"stopping"/s);
    expect(refused).toMatch(/retry-after: 1\r\n/);
    expect(await ready.closed()).toMatch(/^HTTP\/1\.1 503 .*"ready":false/s);
    await closing;
    expect(http.journal.state.reservations.size).toBe(0);
  });

  test('cuts what does not end in time', async () => {
    const { http, port } = await listen({ stopGraceMs: 50 });
    const journal = holdJournal(http);
    const line = await Line.to(port);
    line.write(reserve(http.key, 'r1'));
    await journal.reached;
    await http.app.close();
    expect(await line.closed()).toBe('');
    journal.letGo();
  });
});

describe('too much', () => {
  test('of requests under way is 503 at once; health and metrics are answered all the same', async () => {
    const { http, port } = await listen({ maxInFlight: 1 });
    const journal = holdJournal(http);
    const first = await Line.to(port);
    first.write(reserve(http.key, 'r1'));
    await journal.reached;
    const answer = await http.post('/v1/reservations', { amount: '1' });
    expect(answer).toMatchObject({ status: 503, body: { code: 'overloaded' }, headers: { 'retry-after': '1' } });
    expect((await http.get('/healthz')).status).toBe(200);
    expect((await http.get('/metrics')).text).toContain('holdfast_http_in_flight 1');
    journal.letGo();
    await first.until('201 Created');
    expect((await http.post('/v1/reservations', { amount: '1' })).status).toBe(201);
    first.end();
  });

  test('of headers is 431', async () => {
    const { port } = await listen();
    const line = await Line.to(port);
    line.write(`GET /healthz HTTP/1.1\r\nhost: x\r\nx-big: ${'x'.repeat(20_000)}\r\n\r\n`);
    const answer = await line.closed();
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('"code":"headers_too_large"');
  });

  test('of time for the headers is 408', async () => {
    const { port } = await listen({ headersMs: 100, requestMs: 100 });
    const line = await Line.to(port);
    line.write('GET /healthz HTTP/1.1\r\nhost: x\r\n');
    const answer = await line.closed();
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"code":"request_timeout"');
  });

  test('what is not HTTP is 400', async () => {
    const { port } = await listen();
    const line = await Line.to(port);
    line.write('HELLO\r\n\r\n');
    expect(await line.closed()).toMatch(/^HTTP\/1\.1 400 .*"code":"invalid_request"/s);
  });

  test('a caller that goes away is no longer counted', async () => {
    const { http, port } = await listen({ maxInFlight: 1 });
    const journal = holdJournal(http);
    const first = await Line.to(port);
    first.write(reserve(http.key, 'r1'));
    await journal.reached;
    first.end();
    while (!(await http.get('/metrics')).text.includes('holdfast_http_in_flight 0')) await turn();
    journal.letGo();
    expect((await http.post('/v1/reservations', { amount: '1' })).status).toBe(201);
    expect(http.lines.some((line) => line.includes('"status":499'))).toBe(true);
  });
});
