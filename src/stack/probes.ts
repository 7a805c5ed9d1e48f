/** Whether a service answers: the smallest exchange that proves it. */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { reasonOf, throwIfInterrupted } from './errors.js';
import type { ServiceName } from './services.js';

const PROBE_TIMEOUT_MS = 5_000;

/** Resolves when PostgreSQL at the URL answers a query. @throws with its reason when it does not, within 5 s. */
export async function probePostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PROBE_TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
  } finally {
    await client.end().catch(() => undefined);
  }
}

function exchange(socket: Socket, send: string, until: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const settle = (error?: Error): void => {
      socket.destroy();
      if (error) reject(error);
      else resolve(received);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => settle(new Error('no answer within 5 s')));
    socket.once('error', settle);
    socket.once('close', () => settle(new Error('the connection was closed')));
    socket.once(socket instanceof Object && 'encrypted' in socket ? 'secureConnect' : 'connect', () => {
      if (send === '') settle();
      else socket.write(send);
    });
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (until.test(received)) settle();
    });
  });
}

function respCommand(...words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

/** Resolves when Redis at the URL answers PING. @throws with its reason when it does not, within 5 s. */
export async function probeRedis(url: string): Promise<void> {
  const { hostname, port, username, password, protocol } = new URL(url);
  const to = { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 6379 : Number(port) };
  const secret = decodeURIComponent(password);
  const login = secret === '' ? [] : username === '' ? [secret] : [decodeURIComponent(username), secret];
  const send = (login.length > 0 ? respCommand('AUTH', ...login) : '') + respCommand('PING');
  const socket = protocol === 'rediss:' ? connectTls({ ...to, servername: to.host }) : connectTcp(to);
  const answer = await exchange(socket, send, /\+PONG|-[A-Z]+ [^\r\n]*\r\n/);
  if (!answer.includes('+PONG')) throw new Error(`Redis answered ${answer.trim()}`);
}

/** Resolves when one of the brokers takes a connection. @throws with the last one's reason when none does. */
export async function probeKafka(brokers: string): Promise<void> {
  let failure: unknown = new Error('no broker is named');
  for (const broker of brokers.split(',')) {
    const [, host, port] = /^\s*\[?([^\]]+?)\]?:(\d+)\s*$/.exec(broker) ?? [];
    try {
      if (host === undefined) throw new Error(`"${broker}" is not host:port`);
      await exchange(connectTcp({ host, port: Number(port) }), '', /^/);
      return;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Resolves when the service answers at its address (a URL, or brokers joined by commas). @throws when it does not. */
export function probe(name: ServiceName, address: string): Promise<void> {
  switch (name) {
    case 'postgres':
      return probePostgres(address);
    case 'redis':
      return probeRedis(address);
    case 'kafka':
      return probeKafka(address);
  }
}

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** In words, why waiting longer is pointless; undefined while it is not. */
  readonly givenUp: () => string | undefined;
}

/** Tries until it succeeds. @throws with the reason to give up, or with the last failure after the time allowed. */
export async function waitUntil(attempt: () => Promise<void>, options: WaitOptions): Promise<void> {
  const deadline = Date.now() + options.timeoutMs;
  for (;;) {
    throwIfInterrupted(options.signal);
    const hopeless = options.givenUp();
    if (hopeless !== undefined) throw new Error(hopeless);
    try {
      await attempt();
      return;
    } catch (error) {
      if (Date.now() > deadline) {
        throw new Error(`not ready after ${options.timeoutMs / 1000} s: ${reasonOf(error)}`, { cause: error });
      }
    }
    await sleep(50);
  }
}
