import { setTimeout as sleep } from 'node:timers/promises';
import { openHoldfast } from '../../src/compose.js';
import type { Holdfast } from '../../src/compose.js';
import { createLogger } from '../../src/logging.js';
import type { Ledger } from '../../src/service/ledger.js';
import { ownCpuUs } from '../cpu.js';
import type { Subject } from '../drive.js';
import type { BenchSetting } from '../setting.js';
import { BALANCE, COST, HOLD } from './accounts.js';
import type { Customers } from './accounts.js';

const OPENING_AT_ONCE = 64;
const POLL_MS = 20;
const PATIENCE_MS = 120_000;

/** Waits for a condition. Raises an Error when it has not come true after two minutes. */
export const until = async (what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> => {
  const untilMs = performance.now() + PATIENCE_MS;
  while (!(await isTrue())) {
    if (performance.now() > untilMs) throw new Error(`After two minutes, this had not come true: ${what}.`);
    await sleep(POLL_MS);
  }
};

const demand = (done: { readonly ok: boolean }, what: string): void => {
  if (!done.ok)
    throw new Error(
      `${what} was refused: ${JSON.stringify(done, (_k, v: unknown) => (typeof v === 'bigint' ? v.toString() : v))}`,
    );
};

const openAccounts = async (ledger: Ledger, customers: Customers): Promise<void> => {
  const waiting = customers.all.values();
  const worker = async (): Promise<void> => {
    for (const account of waiting) {
      demand(await ledger.openAccount({ account, unit: 'USD' }), 'Opening an account');
      demand(await ledger.recharge({ tenant: account, account, id: 'start', amount: BALANCE }), 'A recharge');
    }
  };
  await Promise.all(Array.from({ length: OPENING_AT_ONCE }, worker));
};

export interface OpenLedger {
  /** Durable reserve and finalize, for these customers. Their accounts must be open. */
  subject(customers: Customers): Subject;
  open(customers: Customers): Promise<void>;
  close(): Promise<void>;
}

const relayed = ({ kafka }: Holdfast): boolean => {
  const statuses = kafka.relay();
  return statuses.length > 0 && statuses.every(({ lagEvents }) => lagEvents === 0);
};

let cycles = 0;
const run = Date.now().toString(36);

/** The ledger in this process, as createLedger gives it, with all its bodies; the load runs in this process too. */
export const openInProcess = async ({ config, meters }: BenchSetting): Promise<OpenLedger> => {
  const holdfast = await openHoldfast(config, {
    logger: createLogger({ level: 'silent' }),
    roles: config.service.roles,
  });
  const { ledger } = holdfast;
  await until('Redis is ready', () => holdfast.bodies.redis()?.ready === holdfast.identity.partitions);
  return {
    open: (customers) => openAccounts(ledger, customers),
    subject: (customers) => ({
      name: `in process, ${customers.name}`,
      eventsPerOperation: 2,
      meters: { ...meters, node: ownCpuUs },
      operation: async () => {
        const tenant = customers.next();
        const id = `${run}-${(cycles += 1)}`;
        demand(await ledger.reserve({ tenant, id, amount: { kind: 'sole', amount: HOLD } }), 'A reserve');
        demand(await ledger.finalize({ tenant, id, amount: { kind: 'sole', amount: COST } }), 'A finalize');
      },
      settled: () => until('Kafka has all events', () => relayed(holdfast)),
    }),
    close: () => holdfast.close(),
  };
};
