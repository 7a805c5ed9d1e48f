import type { RaceResult, RaceSize } from './race.js';

/** `inconclusive`: not even the racy baseline overspent, so the guard was not put to the test. */
export type Verdict = 'exact' | 'wrong' | 'inconclusive';

/** Exact: all units were granted, none twice, every answer was clear; and without the guard it would have gone wrong. */
export const judge = (size: RaceSize, guard: RaceResult, baseline: RaceResult): Verdict => {
  const units = size.tenants * size.balance;
  if (guard.granted !== units || guard.overspends > 0 || guard.falseRefusals > 0 || guard.unclear > 0) return 'wrong';
  return baseline.granted > units ? 'exact' : 'inconclusive';
};

const count = (value: number): string => value.toLocaleString('en-US');
const timesOf = ({ latency }: RaceResult): string =>
  `P50 ${latency.p50_ms.toFixed(2)} ms, P99 ${latency.p99_ms.toFixed(2)} ms`;

/** The bench's last line. */
export const sentenceOf = (verdict: Verdict, size: RaceSize, guard: RaceResult, baseline: RaceResult): string => {
  const units = count(size.tenants * size.balance);
  const setting = `Of ${count(size.requests)} reserves for ${units} units over ${count(size.connections)} connections`;
  const guarded = `the Lua guard granted ${verdict === 'wrong' ? '' : 'exactly '}${count(guard.granted)} with ${count(guard.overspends)} overspends (${timesOf(guard)})`;
  const racy = `GET then DECRBY granted ${count(baseline.granted)} with ${count(baseline.overspends)} overspends (${timesOf(baseline)})`;
  const ending = {
    exact: '.',
    wrong: `: the guard is WRONG (${count(guard.falseRefusals)} false refusals, ${count(guard.unclear)} unclear).`,
    inconclusive: ': INCONCLUSIVE, since the baseline did not overspend.',
  }[verdict];
  return `${setting}, ${guarded}; ${racy}${ending}`;
};
