/** A rebuild that stands still between two of its calls to Redis, as one does whose process is slow. */
import { RebuildLostError } from '../../src/core/ports.js';
import type { RebuildTarget } from '../../src/core/ports.js';

interface Gate {
  readonly reached: Promise<void>;
  open(): void;
  /** Waits at the nth call, counted from 0, until it is opened. */
  pass(): Promise<void>;
}

const signal = (): { readonly given: Promise<void>; give(): void } => {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give: () => give() };
};

const gateAt = (nth: number): Gate => {
  let passed = 0;
  const reached = signal();
  const opened = signal();
  return {
    reached: reached.given,
    open: () => opened.give(),
    pass: async () => {
      if (passed++ !== nth) return;
      reached.give();
      await opened.given;
    },
  };
};

/** The target, but with a gate before each call after `begin`. */
const gated = (target: RebuildTarget, gate: Gate): RebuildTarget => ({
  begin: async (partition) => {
    const rebuild = await target.begin(partition);
    await gate.pass();
    const late = async <T>(call: () => Promise<T>): Promise<T> => {
      await gate.pass();
      return call();
    };
    return {
      partition: rebuild.partition,
      speculations: rebuild.speculations,
      accounts: (accounts) => late(() => rebuild.accounts(accounts)),
      reservations: (reservations) => late(() => rebuild.reservations(reservations)),
      dropKnown: (known) => late(() => rebuild.dropKnown(known)),
      maxCosts: (maxCosts) => late(() => rebuild.maxCosts(maxCosts)),
      end: (checkpoint) => late(() => rebuild.end(checkpoint)),
    };
  },
});

/** `superseded`: another rebuild has begun, or Redis no longer knows of this one. `unreachable`: its connection is gone. */
export type RebuildEnd = 'ended' | RebuildLostError['reason'];

export class HeldUpRebuild {
  private constructor(
    private readonly gate: Gate,
    private readonly outcome: Promise<RebuildEnd>,
  ) {}

  /** Starts one by `run` and lets it come to its nth call after begin; undefined when it ended before. */
  static async start(
    target: RebuildTarget,
    nth: number,
    run: (target: RebuildTarget) => Promise<unknown>,
  ): Promise<HeldUpRebuild | undefined> {
    const gate = gateAt(nth);
    const outcome = run(gated(target, gate)).then(
      () => 'ended' as const,
      (error: unknown) => {
        if (error instanceof RebuildLostError) return error.reason;
        throw error;
      },
    );
    // Whoever lets it go on sees how it ended; until then a failure must not end the process.
    outcome.catch(() => undefined);
    const ended = await Promise.race([gate.reached, outcome]);
    return ended === undefined ? new HeldUpRebuild(gate, outcome) : undefined;
  }

  /** Lets it go on to its end. */
  goOn(): Promise<RebuildEnd> {
    this.gate.open();
    return this.outcome;
  }
}
