import { Latencies } from '../src/load/latencies.js';
import type { LatencySummary } from '../src/load/latencies.js';

/** Who used CPU: the program under test, and the services. */
export const CPU_USERS = ['node', 'postgres', 'redis', 'java'] as const;
export type CpuUser = (typeof CPU_USERS)[number];
export type CpuMeters = Readonly<Partial<Record<CpuUser, () => number | undefined>>>;

/** Something that can be done over and over. */
export interface Subject {
  readonly name: string;
  /** Events of the log (or what stands for them) in one operation. */
  readonly eventsPerOperation: number;
  readonly meters: CpuMeters;
  /** One operation; `slot` tells those apart that are under way at once. Raises when it is not granted. */
  operation(slot: number): Promise<void>;
  /** Waits until what the operations set off is done, so that its CPU time counts too. */
  settled?(): Promise<void>;
}

export interface Measured {
  readonly name: string;
  readonly operations: number;
  readonly eventsPerOperation: number;
  readonly operationsPerSecond: number;
  readonly latency: LatencySummary;
  /** µs for each event; absent where it can't be told. */
  readonly cpu: Readonly<Partial<Record<CpuUser, number>>>;
}

export interface DriveOptions {
  readonly inFlight: number;
  readonly warmupMs: number;
  readonly durationMs: number;
}

const readMeters = (meters: CpuMeters): ReadonlyMap<CpuUser, number> => {
  const read = new Map<CpuUser, number>();
  for (const user of CPU_USERS) {
    const us = meters[user]?.();
    if (us !== undefined) read.set(user, us);
  }
  return read;
};

const since = (before: ReadonlyMap<CpuUser, number>, meters: CpuMeters, events: number): Measured['cpu'] => {
  const after = readMeters(meters);
  return Object.fromEntries([...before].map(([user, us]) => [user, ((after.get(user) ?? us) - us) / events]));
};

const run = async (subject: Subject, inFlight: number, durationMs: number, latencies?: Latencies): Promise<number> => {
  const untilMs = performance.now() + durationMs;
  let operations = 0;
  const worker = async (slot: number): Promise<void> => {
    for (let startMs = performance.now(); startMs < untilMs; startMs = performance.now()) {
      await subject.operation(slot);
      operations += 1;
      latencies?.record(performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_unused, slot) => worker(slot)));
  return operations;
};

/** Drives a subject for a while, so many operations under way at all times, and measures it after a warm-up. */
export const drive = async (subject: Subject, { inFlight, warmupMs, durationMs }: DriveOptions): Promise<Measured> => {
  await run(subject, inFlight, warmupMs);
  await subject.settled?.();
  const latencies = new Latencies();
  const before = readMeters(subject.meters);
  const startMs = performance.now();
  const operations = await run(subject, inFlight, durationMs, latencies);
  const seconds = (performance.now() - startMs) / 1_000;
  await subject.settled?.();
  return {
    name: subject.name,
    operations,
    eventsPerOperation: subject.eventsPerOperation,
    operationsPerSecond: operations / seconds,
    latency: latencies.summary(),
    cpu: since(before, subject.meters, operations * subject.eventsPerOperation),
  };
};

/** Measures one stretch of work of a known size. */
export const measureOnce = async (
  what: Pick<Subject, 'name' | 'meters' | 'eventsPerOperation'>,
  work: (latencies: Latencies) => Promise<number>,
): Promise<Measured> => {
  const latencies = new Latencies();
  const before = readMeters(what.meters);
  const startMs = performance.now();
  const operations = await work(latencies);
  const seconds = (performance.now() - startMs) / 1_000;
  return {
    name: what.name,
    operations,
    eventsPerOperation: what.eventsPerOperation,
    operationsPerSecond: operations / seconds,
    latency: latencies.summary(),
    cpu: since(before, what.meters, operations * what.eventsPerOperation),
  };
};
