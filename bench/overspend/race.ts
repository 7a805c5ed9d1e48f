import { Latencies } from '../../src/load/latencies.js';
import type { LatencySummary } from '../../src/load/latencies.js';
import { seededRandom } from '../../src/traces/index.js';

export interface RaceSize {
  readonly tenants: number;
  /** What each tenant has, in units; each reserve takes one. */
  readonly balance: number;
  /** How many reserves in all, spread evenly over the tenants. */
  readonly requests: number;
  readonly connections: number;
}

/** Who decides on reserves, over connections that it has opened already. */
export interface Contender {
  readonly name: string;
  /** One reserve of one unit, over the connection of this number. `unclear`: no definite answer. */
  reserve(connection: number, tenant: number, request: number): Promise<'granted' | 'refused' | 'unclear'>;
}

export interface RaceResult {
  readonly name: string;
  readonly granted: number;
  readonly refused: number;
  readonly unclear: number;
  /** Units granted beyond what the tenants had. */
  readonly overspends: number;
  /** Units that some tenant still had although it was refused. */
  readonly falseRefusals: number;
  readonly seconds: number;
  readonly latency: LatencySummary;
}

/** Every tenant's reserves, all mixed: the same order for each contender. */
export const shuffledTenants = ({ tenants, requests }: RaceSize, seed: number): Uint32Array => {
  const random = seededRandom(seed);
  const order = Uint32Array.from({ length: requests }, (_unused, i) => i % tenants);
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const kept = order[i] ?? 0;
    order[i] = order[j] ?? 0;
    order[j] = kept;
  }
  return order;
};

/** Lets a contender decide on all reserves, one under way on each connection. */
export const race = async (
  contender: Contender,
  size: RaceSize,
  order: Uint32Array,
  onProgress: (done: number) => void = () => undefined,
): Promise<RaceResult> => {
  const latencies = new Latencies();
  const grants = new Uint32Array(size.tenants);
  const counts = { granted: 0, refused: 0, unclear: 0 };
  let next = 0;
  const worker = async (connection: number): Promise<void> => {
    for (let request = next++; request < order.length; request = next++) {
      const tenant = order[request] ?? 0;
      const sentMs = performance.now();
      const outcome = await contender.reserve(connection, tenant, request);
      latencies.record(performance.now() - sentMs);
      counts[outcome] += 1;
      if (outcome === 'granted') grants[tenant] = (grants[tenant] ?? 0) + 1;
      if (request % 10_000 === 0) onProgress(request);
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: size.connections }, (_unused, i) => worker(i)));
  const seconds = (performance.now() - startedMs) / 1_000;
  const off = (of: (granted: number) => number): number =>
    grants.reduce((sum, granted) => sum + Math.max(0, of(granted)), 0);
  const wanted = Math.min(size.balance, Math.floor(size.requests / size.tenants));
  return {
    name: contender.name,
    ...counts,
    overspends: off((granted) => granted - size.balance),
    falseRefusals: off((granted) => wanted - granted),
    seconds,
    latency: latencies.summary(),
  };
};
