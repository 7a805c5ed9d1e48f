import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

/** What the HTTP interface measures; `route` is a template, never a path with ids. Times in seconds. */
export interface HttpMetrics {
  answered(method: string, route: string, status: number, seconds: number): void;
  /** How many requests are under way. */
  inFlight(count: number): void;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Puts the HTTP interface's metrics into a registry. */
export const httpMetrics = (registry: Registry): HttpMetrics => {
  const registers = [registry];
  const requests = new Counter({
    name: 'holdfast_http_requests_total',
    help: 'HTTP requests answered, by route template and status.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const times = new Histogram({
    name: 'holdfast_http_request_seconds',
    help: 'Time from the arrival of an HTTP request to its answer.',
    labelNames: ['method', 'route'],
    buckets: SECONDS,
    registers,
  });
  const inFlight = new Gauge({
    name: 'holdfast_http_in_flight',
    help: 'HTTP requests under way.',
    registers,
  });
  // Looking a label set up costs more than counting; routes, methods and statuses are few, so each set is looked up once.
  const series = new Map<string, { count: Counter.Internal; time: Histogram.Internal<'method' | 'route'> }>();
  return {
    answered: (method, route, status, seconds) => {
      const key = `${method} ${status.toString()} ${route}`;
      let known = series.get(key);
      if (known === undefined) {
        known = { count: requests.labels(method, route, status.toString()), time: times.labels(method, route) };
        series.set(key, known);
      }
      known.count.inc();
      known.time.observe(seconds);
    },
    inFlight: (count) => inFlight.set(count),
  };
};
