/** How random runs are made and how a failure is told: the seed, and the fewest steps that still fail. */
import fc from 'fast-check';
import { inLines } from './ledger-steps.js';
import type { LedgerStep } from './ledger-steps.js';

const numberIn = (variable: string): number | undefined => {
  const text = process.env[variable];
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`${variable} is ${text}, which is no whole number.`);
  return value;
};

/** How many runs HOLDFAST_MODEL_RUNS asks for, else `usual`. */
export const runsAsked = (usual: number): number => numberIn('HOLDFAST_MODEL_RUNS') ?? usual;

/** True when a person (or the nightly run) asked for a number of runs, and so wants to read what they met. */
export const isAsked = (): boolean => numberIn('HOLDFAST_MODEL_RUNS') !== undefined;

/**
 * Runs the property on random steps. HOLDFAST_MODEL_SEED and HOLDFAST_MODEL_PATH repeat a failure; HOLDFAST_MODEL_SHRINK=0
 * gives up looking for fewer steps. Raises an Error with the seed and the steps, its cause the first thing that was wrong.
 */
export const forRandomSteps = async (
  steps: fc.Arbitrary<LedgerStep>,
  runs: number,
  run: (taken: readonly LedgerStep[]) => Promise<void>,
): Promise<void> => {
  const seed = numberIn('HOLDFAST_MODEL_SEED');
  const path = process.env['HOLDFAST_MODEL_PATH'];
  const property = fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 80, size: 'max' }), run);
  const details = await fc.check(property, {
    numRuns: runs,
    endOnFailure: numberIn('HOLDFAST_MODEL_SHRINK') === 0,
    // Fewer steps are looked for, but not for ever.
    plugins: [fc.interruptAfterTimeLimit(timeLimitMs(runs), { failOnInterrupt: true })],
    ...(seed === undefined ? {} : { seed }),
    ...(path === undefined ? {} : { path }),
  });
  if (!details.failed) return;
  const found = details.counterexample as readonly [readonly LedgerStep[]] | null;
  if (found === null)
    throw new Error(`The runs took too long: ${details.numRuns.toString()} of ${runs.toString()} were done.`);
  const text = failureText(details, found[0]);
  throw new Error(text, { cause: details.errorInstance });
};

/** The longest that runs may take, ms, with the search for fewer steps. */
export const timeLimitMs = (runs: number): number => 120_000 + runs * 5_000;

const failureText = (
  details: Pick<fc.RunDetails<unknown>, 'seed' | 'counterexamplePath' | 'errorInstance'>,
  taken: readonly LedgerStep[],
): string =>
  [
    `The sides differ: ${firstLine(details.errorInstance)}`,
    `After these ${taken.length.toString()} steps (it shows at the last, or once Redis is brought up to the log after it):`,
    inLines(taken),
    `Again: HOLDFAST_MODEL_SEED=${details.seed.toString()} HOLDFAST_MODEL_PATH=${details.counterexamplePath ?? ''} npm run test:model`,
  ].join('\n');

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
