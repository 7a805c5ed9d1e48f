import { RedisFault } from './errors.js';

interface Waiting {
  readonly dueAt: number;
  readonly giveUp: (fault: RedisFault) => void;
}

/**
 * The commands under way on one connection, with the time at which each is given up. One timer for all, since a timer
 * for each would cost as much as the command. Times are on the process's monotonic clock, ms.
 */
export class Pending {
  private readonly waiting = new Set<Waiting>();
  private heardAt = performance.now();
  private readonly timer: NodeJS.Timeout;

  /** `onStalled`: commands wait, and the server has said nothing at all for `stalledMs`. */
  constructor(
    stalledMs: number,
    private readonly onStalled: () => void,
  ) {
    // Judged after what has arrived was read: a process that was busy itself must not take that for a silent server.
    const sweep = (): unknown => setImmediate(() => this.sweep(stalledMs));
    this.timer = setInterval(sweep, Math.min(250, Math.max(5, stalledMs / 4)));
    this.timer.unref();
  }

  get size(): number {
    return this.waiting.size;
  }

  /** Waits for an answer until `timeoutMs` have passed; then raises RedisFault `outcome_unknown`. */
  wait<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
    if (this.waiting.size === 0) this.heardAt = performance.now();
    return new Promise<T>((resolve, reject) => {
      const entry: Waiting = { dueAt: performance.now() + timeoutMs, giveUp: reject };
      this.waiting.add(entry);
      const heard = (): void => {
        this.heardAt = performance.now();
        this.waiting.delete(entry);
      };
      answer.then(
        (value) => {
          heard();
          resolve(value);
        },
        (error: unknown) => {
          heard();
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private sweep(stalledMs: number): void {
    const now = performance.now();
    const stalled = this.waiting.size > 0 && now - this.heardAt > stalledMs;
    for (const entry of this.waiting)
      if (entry.dueAt <= now) {
        this.waiting.delete(entry);
        entry.giveUp(new RedisFault('outcome_unknown', 'Redis did not answer in time.'));
      }
    if (stalled) this.onStalled();
  }
}
