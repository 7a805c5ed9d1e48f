/** A body that runs again and again, with a pause between, until it is stopped. */
export interface Periodic {
  /** Runs the body soon, without waiting out the pause. */
  wake(): void;
  /** Resolves once the body that is under way has ended; it does not run again. */
  stop(): Promise<void>;
}

export interface PeriodicOptions {
  /** Pause between the end of one run and the start of the next, ms. */
  readonly pauseMs: number;
  /** What the body raised. The body goes on after the pause: a service that is away comes back. Must not raise. */
  readonly onError: (error: unknown) => void;
}

/** Starts a body at once and keeps it going. The body gets a signal that is aborted when it is to stop. */
export const runPeriodically = (body: (signal: AbortSignal) => Promise<void>, options: PeriodicOptions): Periodic => {
  const stopping = new AbortController();
  let wakeUp: (() => void) | undefined;
  let woken = false;
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      if (woken || stopping.signal.aborted) {
        resolve();
        return;
      }
      const timer = setTimeout(resolve, options.pauseMs);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const running = (async () => {
    while (!stopping.signal.aborted) {
      woken = false;
      try {
        await body(stopping.signal);
      } catch (error) {
        options.onError(error);
      }
      await pause();
    }
  })();
  const wake = (): void => {
    woken = true;
    wakeUp?.();
  };
  return {
    wake,
    stop: async () => {
      stopping.abort();
      wake();
      await running;
    },
  };
};
