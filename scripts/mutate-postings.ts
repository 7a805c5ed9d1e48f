/**
 * Shows that the model test fails when any one posting is changed, and on designs that are known to be wrong: changes a
 * copy of the tree in one place at a time, and runs the test there. Exit code 0: all were caught; 1: some were not.
 */
import { startBenchServices } from '../bench/services.js';
import type { Change } from './mutations/change.js';
import { KNOWN_BAD } from './mutations/known-bad.js';
import { postingChanges } from './mutations/posting-changes.js';
import { TreeCopy } from './mutations/tree-copy.js';

/** Random runs that a change may survive before it counts as not caught. */
const RUNS = 100;
/** The test that must catch every change: the random one. */
const MUST_CATCH = 'fold, SQL and Lua agree on every bucket after every step';
const WHY_CHARS_MAX = 110;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(0)} s`;

/** True when the random test caught it. */
const tryOne = async (copy: TreeCopy, change: Change, signal: AbortSignal): Promise<boolean> => {
  const start = performance.now();
  const ends = await copy.test(change, RUNS, signal);
  const failed = ends.filter((end) => end.failed);
  const random = failed.find(({ title }) => title === MUST_CATCH);
  const word = random === undefined ? 'NOT CAUGHT' : 'caught';
  const why = (random?.why ?? '').replace(/^(Error: )?(The sides differ: )?/, '').slice(0, WHY_CHARS_MAX);
  const by = `${failed.length.toString()} of ${ends.length.toString()} tests`;
  say(`| ${change.file} | ${change.name} | ${word} | ${by} | ${seconds(start)} | ${why} |`);
  return random !== undefined;
};

const tryAll = async (copy: TreeCopy, signal: AbortSignal): Promise<number> => {
  const asItIs = await copy.test(undefined, 3, signal);
  const broken = asItIs.find(({ failed }) => failed);
  if (broken !== undefined) throw new Error(`The tree fails as it is, so nothing can be shown: ${broken.why}`);
  const only = process.argv[2] ?? '';
  const all = [...postingChanges(await copy.read('events/posting.ts')), ...KNOWN_BAD];
  const changes = all.filter(({ name, file }) => `${file} ${name}`.includes(only));
  say('| file | change | model test | failed | after | what it saw first |\n| --- | --- | --- | --- | --- | --- |');
  let caught = 0;
  for (const change of changes) if (await tryOne(copy, change, signal)) caught += 1;
  say(
    `${changes.length.toString()} changes, ${caught.toString()} caught, ${(changes.length - caught).toString()} not.`,
  );
  return changes.length === 0 ? 1 : changes.length - caught;
};

const controller = new AbortController();
const services = await startBenchServices(['postgres', 'redis']);
const [postgresUrl, redisUrl] = [services.recordOf('postgres').address, services.recordOf('redis').address];
const copy = await TreeCopy.make({ postgresUrl, redisUrl });
process.once('SIGINT', () => controller.abort()).once('SIGTERM', () => controller.abort());
try {
  process.exitCode = (await tryAll(copy, controller.signal)) === 0 ? 0 : 1;
} finally {
  await copy.remove();
  await services.stop();
}
