import { seededRandom } from '../traces/index.js';
import type { LedgerClient, Reply } from './ledger-client.js';

/** A customer with a wallet in micro-dollars. */
export interface Customer {
  /** The tenant, which is also the name of its wallet. */
  readonly tenant: string;
  /** What it pays in at the start. */
  readonly balance: bigint;
  /** What it pays in again when it runs dry; 0 for one that does not. */
  readonly topUp: bigint;
}

const DOLLAR = 1_000_000n;

/** What one with little starts with, in cents: some can't even afford the hold of a dear model. */
const LITTLE_CENTS = [20, 300] as const;

/** Of ten customers, seven have plenty, and three so little that they run dry; one of these recharges then. */
export const demoCustomers = (run: string, count: number, seed: number): Customer[] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, (_unused, i) => {
    const kind = random();
    const [least, most] = LITTLE_CENTS;
    const little = BigInt(Math.round(least + random() * (most - least))) * (DOLLAR / 100n);
    return {
      tenant: `${run}-${(i + 1).toString().padStart(4, '0')}`,
      balance: kind < 0.7 ? 500n * DOLLAR : little,
      topUp: kind >= 0.9 ? 5n * DOLLAR : 0n,
    };
  });
};

/** Raised when an account could not be set up or read: the run makes no sense without it. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
  constructor(
    message: string,
    /** The server gave no answer; otherwise it said no. */
    readonly unreachable: boolean,
  ) {
    super(message);
  }
}

/** A ledger's answer in few words, for people: never more than its code. */
export const describeReply = (reply: Reply): string => {
  if (reply.kind === 'unknown') return reply.why;
  const { code } = (reply.body ?? {}) as { readonly code?: unknown };
  return `status ${reply.status}${typeof code === 'string' ? ` ${code}` : ''}`;
};

const demand = (reply: Reply, what: string): void => {
  if (reply.kind === 'answered' && reply.status < 300) return;
  throw new SetupError(`${what} failed: ${describeReply(reply)}`, reply.kind === 'unknown');
};

const setUp = async (client: LedgerClient, { tenant, balance }: Customer): Promise<void> => {
  demand(await client.post('/v1/accounts', tenant, { id: tenant, unit: 'USD', scale: 6 }), `Opening ${tenant}`);
  if (balance === 0n) return;
  const body = { id: `${tenant}-start`, amount: balance.toString() };
  demand(
    await client.post(`/v1/accounts/${encodeURIComponent(tenant)}/recharges`, tenant, body),
    `Recharging ${tenant}`,
  );
};

/**
 * Opens the customers' wallets and pays in what they start with; `concurrency` at a time. Safe to run again.
 * @throws SetupError when one is refused.
 */
export const openCustomers = async (
  client: LedgerClient,
  customers: readonly Customer[],
  concurrency: number,
  onOpened: (count: number) => void = () => undefined,
): Promise<void> => {
  const waiting = customers.values();
  let opened = 0;
  const worker = async (): Promise<void> => {
    for (const customer of waiting) {
      await setUp(client, customer);
      onOpened(++opened);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
};

/**
 * What the ledger says was used, over all customers, in micro-dollars.
 * @throws SetupError when an account can't be read.
 */
export const usedBy = async (client: LedgerClient, customers: readonly Customer[]): Promise<bigint> => {
  let used = 0n;
  for (const { tenant } of customers) {
    const reply = await client.get(`/v1/accounts/${encodeURIComponent(tenant)}`, tenant);
    demand(reply, `Reading ${tenant}`);
    const { body } = reply as Extract<Reply, { kind: 'answered' }>;
    const amount = (body as { readonly used?: unknown }).used;
    if (typeof amount !== 'string') throw new SetupError(`Reading ${tenant} failed: it has no used amount`, false);
    used += BigInt(amount);
  }
  return used;
};
