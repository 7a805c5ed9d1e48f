/**
 * How many reserve+finalize cycles a second the journal commits, without Redis and HTTP.
 * `node dist/bench/journal.js [--cycles 50000] [--in-flight 256] [--accounts 1000] [--lanes 2]`, with HOLDFAST_POSTGRES_URL naming an
 * empty database.
 */
import { parseArgs } from 'node:util';
import type { Command } from '../src/core/command.js';
import { PostgresJournal, migrate } from '../src/journal/index.js';

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '50000' },
    'in-flight': { type: 'string', default: '256' },
    accounts: { type: 'string', default: '1000' },
    lanes: { type: 'string', default: '2' },
  },
});

const url = process.env['HOLDFAST_POSTGRES_URL'];
if (url === undefined) throw new Error('Set HOLDFAST_POSTGRES_URL to an empty database.');
const cycles = Number(values.cycles);
const inFlight = Number(values['in-flight']);
const accounts = Number(values.accounts);

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const run = Date.now().toString(36);
const tenants = Array.from({ length: accounts }, (_, n) => `bench-${run}-${n.toString()}`);

const { ledger } = await migrate({ url }, { name: 'holdfast', partitions: 64 });
let groups = 0;
let events = 0;
const journal = new PostgresJournal({
  postgres: { url },
  identity: ledger,
  lanes: Number(values.lanes),
  onGroup: (report) => {
    groups++;
    events += report.events;
  },
  onFault: (error, what) => say(`${what}: ${String(error)}`),
});

const done = async (command: Command): Promise<void> => {
  const { decision } = await journal.append(command);
  if (decision.outcome === 'rejected') throw new Error(`${command.kind} was refused: ${decision.rejection.code}`);
};

for (let from = 0; from < tenants.length; from += 1000)
  await Promise.all(
    tenants.slice(from, from + 1000).map(async (tenant) => {
      const opening = { kind: 'open_account', tenant, account: tenant, unit: 'USD', scale: 6 } as const;
      await done({ ...opening, overdraftLimit: 0n, exempt: false });
      await done({ kind: 'recharge', tenant, account: tenant, id: 'first', amount: 10n ** 15n });
    }),
  );

const latencies: number[] = [];
let started = 0;
const worker = async (): Promise<void> => {
  while (started < cycles) {
    const n = started++;
    const tenant = tenants[n % tenants.length] ?? '';
    const id = `${run}-${n.toString()}`;
    const reserve = { kind: 'reserve', tenant, id, accounts: [tenant], model: 'bench', ttlSeconds: 600 } as const;
    const from = performance.now();
    await done({
      ...reserve,
      policy: 'caller',
      level: 'durable',
      requested: { kind: 'sole', amount: 65n },
      metadata: { user: 'u-1234', route: 'chat' },
    });
    latencies.push(performance.now() - from);
    await done({
      kind: 'finalize',
      tenant,
      id,
      cost: { kind: 'sole', amount: 42n },
      usage: { prompt_tokens: 120, completion_tokens: 80 },
    });
  }
};

[groups, events] = [0, 0];
const cpu = process.cpuUsage();
const begun = performance.now();
await Promise.all(Array.from({ length: inFlight }, worker));
const seconds = (performance.now() - begun) / 1000;
const { user, system } = process.cpuUsage(cpu);
await journal.close();

latencies.sort((a, b) => a - b);
const at = (share: number): string => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(1);
say(`cycles a second   ${(cycles / seconds).toFixed(0)}`);
say(`events a second   ${(events / seconds).toFixed(0)}`);
say(`events a group    ${(events / groups).toFixed(1)} (${groups.toString()} groups)`);
say(`node CPU an event ${((user + system) / events).toFixed(1)} µs`);
say(`reserve P50, P99  ${at(0.5)} ms, ${at(0.99)} ms`);
