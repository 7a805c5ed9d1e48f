/**
 * A ledger of one process and no storage behind HTTP: the real rules (src/core), enough of the surface for a load player,
 * and faults on demand. It stands for the network's bad days, not for the services.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { genesisHash } from '../../../events/index.js';
import type { StoredEvent } from '../../../events/index.js';
import type { Command } from '../../../src/core/command.js';
import { execute } from '../../../src/core/decide/index.js';
import type { Decision } from '../../../src/core/decide/index.js';
import { initialState } from '../../../src/core/state.js';

/** What goes wrong with a request: answered 503 before it is carried out, or its socket cut before or after; or told one unit too much. */
export type Fault = 'none' | 'unavailable' | 'cut_before' | 'cut_after' | 'one_too_much';

export interface MemoryServer {
  readonly baseUrl: string;
  readonly events: readonly StoredEvent[];
  readonly requests: number;
  account(name: string): { readonly available: bigint; readonly held: bigint; readonly used: bigint } | undefined;
  close(): Promise<void>;
}

type Body = Readonly<Record<string, string | undefined>>;

const commandOf = (path: string, tenant: string, body: Body): Command | undefined => {
  const [, , noun, name = '', verb] = path.split('/').map(decodeURIComponent);
  const amount = BigInt(body['amount'] ?? 0);
  const id = body['id'] ?? name;
  if (noun === 'accounts' && name === '')
    return { kind: 'open_account', tenant, account: id, unit: 'USD', scale: 6, overdraftLimit: 0n, exempt: false };
  if (noun === 'accounts' && verb === 'recharges') return { kind: 'recharge', tenant, account: name, id, amount };
  if (noun !== 'reservations') return undefined;
  if (verb === 'finalize') return { kind: 'finalize', tenant, id, cost: { kind: 'sole', amount } };
  if (verb === 'refund') return { kind: 'refund', tenant, id, reason: body['reason'] ?? 'none' };
  const requested = { kind: 'sole', amount } as const;
  return {
    kind: 'reserve',
    tenant,
    id,
    accounts: [tenant],
    requested,
    policy: 'caller',
    ttlSeconds: 600,
    level: 'durable',
  };
};

const statusOf = (decision: Decision): number => {
  if (decision.outcome === 'done') return decision.replay ? 200 : 201;
  if (decision.rejection.code === 'insufficient_quota') return 429;
  return decision.rejection.code.endsWith('not_found') ? 404 : 409;
};

const readBody = async (request: IncomingMessage): Promise<Body> => {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text === '' ? {} : (JSON.parse(text) as Body);
};

/** Starts one on a free port. `faultOf` is asked for each request, counted from 1. */
export const startMemoryServer = async (
  faultOf: (request: number, path: string) => Fault = () => 'none',
): Promise<MemoryServer> => {
  const state = initialState();
  const tail = { ledger: 'memory', partition: 0, incarnation: 1, position: 0, hash: genesisHash('memory', 0) };
  const events: StoredEvent[] = [];
  let requests = 0;

  const carryOut = (path: string, tenant: string, body: Body): { status: number; answer: unknown } => {
    const command = commandOf(path, tenant, body);
    if (command === undefined) return { status: 404, answer: { code: 'no_such_path' } };
    const { decision, events: made } = execute(state, tail, command, Date.now());
    events.push(...made);
    return {
      status: statusOf(decision),
      answer: decision.outcome === 'rejected' ? { code: decision.rejection.code } : {},
    };
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    const tenant = String(request.headers['holdfast-tenant']);
    const fault = faultOf(++requests, path);
    const body = await readBody(request);
    if (fault === 'cut_before') return void request.socket.destroy();
    if (fault === 'unavailable') return void response.writeHead(503, { 'retry-after': '0' }).end();
    if (request.method === 'GET') {
      const { used } = state.accounts.get(decodeURIComponent(path.split('/')[3] ?? '')) ?? {};
      const told = fault === 'one_too_much' ? (used ?? 0n) + 1n : used;
      return void response.writeHead(200).end(JSON.stringify({ used: told?.toString() }));
    }
    const { status, answer } = carryOut(path, tenant, body);
    if (fault === 'cut_after') return void request.socket.destroy();
    return void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  };

  const server: Server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    events,
    get requests() {
      return requests;
    },
    account: (name) => state.accounts.get(name),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
