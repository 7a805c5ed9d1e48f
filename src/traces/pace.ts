import { setTimeout as sleep } from 'node:timers/promises';
import { TraceError } from './request.js';
import type { TraceRequest } from './request.js';

/** How many times faster than it was recorded a trace is played; `max`: as fast as whoever takes its requests can. */
export type Speed = 'max' | number;

const SPEED_PATTERN = /^(\d{1,6}(?:\.\d{1,3})?)x?$/;

/**
 * Reads `max`, `1`, `20`, `0.5` or `20x`.
 * @throws TraceError for anything else, and for 0.
 */
export const parseSpeed = (text: string): Speed => {
  if (text === 'max') return 'max';
  const speed = Number(SPEED_PATTERN.exec(text)?.[1]);
  if (speed > 0) return speed;
  throw new TraceError(
    `"${text.slice(0, 40)}" is no speed: give max, or how many times faster than recorded (1, 20, 0.5).`,
  );
};

/** What `paced` needs of time: milliseconds that only move forward, and a way to wait. */
export interface Clock {
  nowMs(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

const systemClock: Clock = {
  nowMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
};

/** A longer gap in a trace is waited for in several steps, since a timer holds 31 bits. */
const SLEEP_MS_MAX = 60_000;

/**
 * Hands on the requests of a trace when they are due. One that is late already (the taker was slow) comes at once, so
 * the pace is kept on the whole. Ends early, without raising, when the signal fires.
 */
export async function* paced(
  trace: AsyncIterable<TraceRequest> | Iterable<TraceRequest>,
  speed: Speed,
  signal?: AbortSignal,
  clock: Clock = systemClock,
): AsyncGenerator<TraceRequest> {
  const startedMs = clock.nowMs();
  // Read through a function: it changes while this one waits.
  const stopped = (): boolean => signal?.aborted === true;
  for await (const request of trace) {
    const dueMs = speed === 'max' ? 0 : startedMs + request.offsetMs / speed;
    for (let waitMs = dueMs - clock.nowMs(); waitMs > 0 && !stopped(); waitMs = dueMs - clock.nowMs()) {
      await clock.sleep(Math.min(waitMs, SLEEP_MS_MAX), signal).catch((error: unknown) => {
        if (!stopped()) throw error;
      });
    }
    if (stopped()) return;
    yield request;
  }
}
