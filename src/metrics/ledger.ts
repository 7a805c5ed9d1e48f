import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { CommandKind } from '../core/command.js';
import type { HoldOutcome } from '../core/ports.js';
import type { RejectionCode } from '../core/rejection.js';
import { BoundedLabel, TopNames } from './bounded.js';

/** What the ledger measures. Times in seconds, lags in positions and seconds. No account or reservation is ever a label. */
export interface LedgerMetrics {
  /** A command was answered: `done`, `replay`, `rejected`, or `unavailable` when it raised. */
  commandAnswered(command: CommandKind, outcome: 'done' | 'replay' | 'rejected' | 'unavailable', tenant: string): void;
  reserveRefused(reason: RejectionCode): void;
  /** From a reserve to its finalize. */
  reserveToFinalize(seconds: number): void;
  /** `count` reservations were given back; 1 unless said. */
  refunded(reason: string, count?: number): void;
  /** What one try to hold in Redis came to. */
  held(outcome: HoldOutcome['kind']): void;
  /** One group of the journal was committed. */
  appended(events: number, seconds: number): void;
  /** The sum of held over the sum of available, of a unit's accounts. */
  heldRatio(unit: string, ratio: number): void;
  /** A witness could not be heard before a new connection was written to. */
  witnessSkipped(witness: string): void;
  projectionLag(projection: string, partition: number, positions: number, seconds: number): void;
  relayLag(partition: number, positions: number, seconds: number): void;
  /** A comparison of balances found `found` accounts that differ; 0 counts as well, since it says that one was made. */
  driftFound(found: number): void;
  /** Holds in Redis that nobody has answered for in 30 s, as last seen. */
  orphanedHolds(count: number): void;
  /** Such holds that were given back. */
  orphansGivenBack(count: number): void;
}

const REASONS_MAX = 20;
const UNITS_MAX = 20;
const TO_FINALIZE_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];
const APPEND_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10];
const APPEND_EVENTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/** `tenantsMax`: how many tenants, the busiest, get a series of their own. */
export const ledgerMetrics = (registry: Registry, tenantsMax: number): LedgerMetrics => {
  const registers = [registry];
  return { ...commandMetrics(registers, tenantsMax), ...flowMetrics(registers), ...healthMetrics(registers) };
};

type Registers = Registry[];

const commandMetrics = (registers: Registers, tenantsMax: number) => {
  const commands = new Counter({
    name: 'holdfast_commands_total',
    help: 'Commands answered, by what came of them.',
    labelNames: ['command', 'outcome'],
    registers,
  });
  const refusals = new Counter({
    name: 'holdfast_reserve_refusals_total',
    help: 'Reserves refused, by reason.',
    labelNames: ['reason'],
    registers,
  });
  const refunds = new Counter({
    name: 'holdfast_refunds_total',
    help: 'Reservations refunded, by reason (the 20 first reasons; then other).',
    labelNames: ['reason'],
    registers,
  });
  const tenants = new TopNames(tenantsMax);
  new Gauge({
    name: 'holdfast_tenant_commands',
    help: 'Commands since the start of the busiest tenants (an upper estimate, never too low).',
    labelNames: ['tenant'],
    registers,
    collect() {
      this.reset();
      for (const { name, count } of tenants.top()) this.set({ tenant: name }, count);
    },
  });
  const reasons = new BoundedLabel(REASONS_MAX);
  return {
    commandAnswered: (command, outcome, tenant) => {
      commands.inc({ command, outcome });
      tenants.add(tenant);
    },
    reserveRefused: (reason) => refusals.inc({ reason }),
    refunded: (reason, count = 1) => refunds.inc({ reason: reasons.of(reason) }, count),
  } satisfies Partial<LedgerMetrics>;
};

const flowMetrics = (registers: Registers) => {
  const toFinalize = new Histogram({
    name: 'holdfast_reserve_to_finalize_seconds',
    help: 'Time from a reserve to its finalize.',
    buckets: TO_FINALIZE_SECONDS,
    registers,
  });
  const holds = new Counter({
    name: 'holdfast_holds_total',
    help: 'Tries to hold in Redis, by what came of them.',
    labelNames: ['outcome'],
    registers,
  });
  const groupSize = new Histogram({
    name: 'holdfast_append_group_events',
    help: 'Events in one group commit.',
    buckets: APPEND_EVENTS,
    registers,
  });
  const groupTime = new Histogram({
    name: 'holdfast_append_group_seconds',
    help: 'Time of one group commit.',
    buckets: APPEND_SECONDS,
    registers,
  });
  return {
    reserveToFinalize: (seconds) => toFinalize.observe(seconds),
    held: (outcome) => holds.inc({ outcome }),
    appended: (events, seconds) => {
      groupSize.observe(events);
      groupTime.observe(seconds);
    },
  } satisfies Partial<LedgerMetrics>;
};

const healthMetrics = (registers: Registers) => {
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name, help, labelNames, registers });
  const ratio = gauge('holdfast_held_available_ratio', 'Held over available, by unit.', ['unit']);
  const behind = gauge('holdfast_projection_lag_positions', 'Events that a projection has not applied.', [
    'projection',
    'partition',
  ]);
  const behindTime = gauge('holdfast_projection_lag_seconds', 'Age of the oldest event not applied.', [
    'projection',
    'partition',
  ]);
  const relay = gauge('holdfast_relay_lag_positions', 'Events that are not on Kafka.', ['partition']);
  const relayTime = gauge('holdfast_relay_lag_seconds', 'Age of the oldest event not on Kafka.', ['partition']);
  const drift = gauge('holdfast_drift', 'Accounts that differed between Redis and Postgres when last compared.', []);
  const orphans = gauge('holdfast_orphaned_holds', 'Holds in Redis that nobody answered for in 30 s.', []);
  const driftTotal = new Counter({ name: 'holdfast_drift_total', help: 'Accounts found to differ, ever.', registers });
  const skipped = new Counter({
    name: 'holdfast_fence_witnesses_skipped_total',
    help: 'Witnesses that could not be heard before a new connection to Postgres was written to.',
    labelNames: ['witness'],
    registers,
  });
  const givenBack = new Counter({
    name: 'holdfast_orphaned_holds_given_back_total',
    help: 'Holds that nobody answered for and that were given back.',
    registers,
  });
  const units = new BoundedLabel(UNITS_MAX);
  return {
    witnessSkipped: (witness) => skipped.inc({ witness }),
    heldRatio: (unit, value) => ratio.set({ unit: units.of(unit) }, value),
    projectionLag: (projection, partition, positions, seconds) => {
      behind.set({ projection, partition }, positions);
      behindTime.set({ projection, partition }, seconds);
    },
    relayLag: (partition, positions, seconds) => {
      relay.set({ partition }, positions);
      relayTime.set({ partition }, seconds);
    },
    driftFound: (found) => {
      drift.set(found);
      driftTotal.inc(found);
    },
    orphanedHolds: (count) => orphans.set(count),
    orphansGivenBack: (count) => givenBack.inc(count),
  } satisfies Partial<LedgerMetrics>;
};
