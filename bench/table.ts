import Table from 'cli-table3';
import type { Measured } from './drive.js';
import { CPU_USERS } from './drive.js';
import { spreadOf, spreadText } from './stats.js';
import type { Spread } from './stats.js';

/** One subject over all rounds. */
export interface Summary {
  readonly name: string;
  readonly events_per_operation: number;
  readonly operations_per_second: Spread;
  readonly p50_ms: Spread;
  readonly p99_ms: Spread;
  /** µs for each event. */
  readonly cpu_us_per_event: Readonly<Record<string, Spread>>;
}

/** Puts the rounds of each subject together, in the order in which the subjects first came. */
export const summarize = (measured: readonly Measured[]): Summary[] => {
  const byName = new Map<string, Measured[]>();
  for (const one of measured) byName.set(one.name, [...(byName.get(one.name) ?? []), one]);
  return [...byName].map(([name, rounds]) => {
    const over = (read: (round: Measured) => number): Spread => spreadOf(rounds.map(read));
    const cpu = CPU_USERS.filter((user) => rounds.every((round) => round.cpu[user] !== undefined));
    return {
      name,
      events_per_operation: rounds[0]?.eventsPerOperation ?? 1,
      operations_per_second: over((round) => round.operationsPerSecond),
      p50_ms: over((round) => round.latency.p50_ms),
      p99_ms: over((round) => round.latency.p99_ms),
      cpu_us_per_event: Object.fromEntries(cpu.map((user) => [user, over((round) => round.cpu[user] ?? Number.NaN)])),
    };
  });
};

/** The table for people: medians, and from the worst round to the best. */
export const tableOf = (summaries: readonly Summary[]): string => {
  const table = new Table({
    head: ['', 'a second', 'P50 ms', 'P99 ms', ...CPU_USERS.map((user) => `${user} µs/event`)],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
    colAligns: ['left', ...Array.from({ length: 3 + CPU_USERS.length }, () => 'right' as const)],
  });
  for (const s of summaries) {
    const cpu = CPU_USERS.map((user) => s.cpu_us_per_event[user]?.median.toFixed(0) ?? '');
    table.push([
      s.name,
      spreadText(s.operations_per_second),
      s.p50_ms.median.toFixed(1),
      s.p99_ms.median.toFixed(1),
      ...cpu,
    ]);
  }
  return table.toString();
};
