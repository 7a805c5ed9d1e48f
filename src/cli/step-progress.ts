import type { Progress } from '../stack/index.js';

/** How often a line of progress is written, ms. */
const SAY_MS = 2000;

/** How much of a step is done; `total` is 0 while it is not known. */
export interface StepSoFar {
  readonly done: number;
  readonly total: number;
  /** A second, since the step began. */
  readonly rate: number;
  /** Undefined while it can't be told. */
  readonly secondsLeft: number | undefined;
}

/** A line for each step at its beginning, then one now and then with its rate and the time left. */
export const stepProgress = <S extends string>(
  progress: Progress,
  nowMs: () => number,
  words: { readonly begun: (step: S) => string; readonly going: (step: S, soFar: StepSoFar) => string },
): ((step: S, done: number, total: number) => void) => {
  let step: S | undefined;
  let [startedMs, first, saidMs] = [0, 0, 0];
  return (name, done, total) => {
    const ms = nowMs();
    if (name !== step) {
      [step, startedMs, first, saidMs] = [name, ms, done, ms];
      progress.say(words.begun(name));
      return;
    }
    if (ms - saidMs < SAY_MS) return;
    saidMs = ms;
    const rate = ((done - first) * 1000) / Math.max(1, ms - startedMs);
    const secondsLeft = rate > 0 && total > 0 ? Math.ceil(Math.max(0, total - done) / rate) : undefined;
    progress.say(words.going(name, { done, total, rate: Math.round(rate), secondsLeft }));
  };
};
