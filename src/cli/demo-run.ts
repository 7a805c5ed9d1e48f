import { setTimeout as sleep } from 'node:timers/promises';
import { demoCustomers, openCustomers } from '../load/customers.js';
import { LedgerClient } from '../load/ledger-client.js';
import { countOverspends } from '../load/overspends.js';
import type { PlannedRequest } from '../load/plan.js';
import { play } from '../load/player.js';
import type { Tally } from '../load/tally.js';
import type { Progress } from '../stack/index.js';
import type { DemoTarget } from './demo-ports.js';
import { driftOf } from './demo-report.js';
import type { Audit, Part } from './demo-report.js';

export interface SceneOptions {
  readonly run: string;
  readonly seed: number;
  readonly accounts: number;
  /** Most requests of the first part, and of the part during which Redis is emptied. */
  readonly requests: readonly [number, number];
  /** Where there is one, the parts end after this time, ms: a slow machine plays fewer requests instead of longer. */
  readonly budgetMs?: readonly [number, number];
  readonly concurrency: number;
  readonly progress: Progress;
  /** Tells the story. */
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** How long Redis may take to be ready again before the demo says so and goes on. */
const READY_WAIT_MS = 60_000;
const READY_POLL_MS = 50;

/** Redis is emptied once so much of the second part is over. */
const EMPTIED_AT = 0.2;

const take = async function* <T>(from: AsyncIterator<T>, count: number, enough: () => boolean): AsyncGenerator<T> {
  for (let taken = 0; taken < count && !enough(); taken++) {
    const next = await from.next();
    if (next.done === true) return;
    yield next.value;
  }
};

const audit = async (target: DemoTarget, progress: Progress): Promise<Audit> => {
  const task = progress.task('Reading the whole log again', (await target.log.heads()).length);
  const counted = await countOverspends(target.log, (done) => task.advance(done, 'partitions'));
  task.end();
  progress.say('Comparing Postgres, Kafka and Redis');
  return { counted, drift: await target.verify() };
};

/** The demo, told in scenes, on a target that is up. */
export class Scenes {
  readonly #client: LedgerClient;

  constructor(
    private readonly target: DemoTarget,
    private readonly options: SceneOptions,
  ) {
    const { baseUrl, key } = target;
    this.#client = new LedgerClient({ baseUrl, key, connections: options.concurrency + 4 });
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /**
   * Opens the customers' accounts and hands them out.
   * @throws SetupError when the server refuses one.
   */
  async openAccounts(): Promise<ReturnType<typeof demoCustomers>> {
    const { run, accounts, seed, progress, concurrency } = this.options;
    const customers = demoCustomers(run, accounts, seed);
    const task = progress.task('Opening accounts', accounts);
    await openCustomers(this.#client, customers, concurrency, (count) => task.advance(count, 'accounts'));
    task.end();
    return customers;
  }

  /** Ordinary traffic. */
  async ordinary(plan: AsyncIterator<PlannedRequest>): Promise<Part> {
    const { requests, budgetMs } = this.options;
    const enough = timeUp(budgetMs?.[0]);
    const tally = await this.#play('Playing requests', plan, { count: requests[0], enough });
    return { name: 'all well', tally: tally.summary(), audit: await audit(this.target, this.options.progress) };
  }

  /** Traffic while Redis is emptied in its midst. It goes on at least until the balances are back. */
  async redisEmptied(plan: AsyncIterator<PlannedRequest>): Promise<Part> {
    const { requests, budgetMs, say } = this.options;
    const reached = new Reached(Math.ceil(requests[1] * EMPTIED_AT));
    const isTimeUp = timeUp(budgetMs?.[1]);
    let isBack = false;
    const playing = this.#play('Playing on', plan, {
      count: requests[1],
      enough: () => isBack && isTimeUp(),
      onEnd: (tally) => reached.note(tally.requests),
    });
    const waits: Promise<unknown>[] = [reached.promise, playing];
    if (budgetMs !== undefined) waits.push(sleep(budgetMs[1] * EMPTIED_AT));
    await Promise.race(waits);
    await this.#emptyRedis();
    isBack = true;
    const tally = await playing;
    say(`Meanwhile ${tally.requests} requests were played; without an answer: ${tally.count('unknown')}.`);
    return { name: 'Redis emptied', tally: tally.summary(), audit: await audit(this.target, this.options.progress) };
  }

  async #emptyRedis(): Promise<void> {
    const { say } = this.options;
    say('');
    say(
      'Now Redis loses all that it has of this demo, with requests under way (FLUSHALL, where it is the demo’s own).',
    );
    const emptied = await this.target.emptyRedis();
    if ('refused' in emptied) {
      say(`Not done: ${emptied.refused}`);
      return;
    }
    say(`Redis is empty: ${emptied.keys} keys are gone. Reserves go on, answered by the journal; balances come back:`);
    await this.#untilReady();
  }

  async #untilReady(): Promise<void> {
    const { say, signal } = this.options;
    const startedMs = performance.now();
    let due = 0;
    for (;;) {
      const { ready, partitions } = await this.target.readiness();
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(2);
      if (ready >= due) {
        say(`  ${seconds} s: Redis answers for ${ready} of ${partitions} partitions`);
        due = Math.min(partitions, ready + Math.ceil(partitions / 4));
      }
      if (ready === partitions || signal.aborted) return;
      if (performance.now() - startedMs > READY_WAIT_MS) {
        say('  That takes longer than a minute: going on.');
        return;
      }
      await sleep(READY_POLL_MS);
    }
  }

  async #play(label: string, plan: AsyncIterator<PlannedRequest>, { count, enough, onEnd }: Playing): Promise<Tally> {
    const { concurrency, progress, signal } = this.options;
    const task = progress.task(label, count);
    const tally = await play(take(plan, count, enough), this.#client, {
      concurrency,
      signal,
      onEnd: (now) => {
        task.advance(now.requests, `${now.count('refused')} refused`);
        onEnd?.(now);
      },
    });
    task.end();
    return tally;
  }
}

interface Playing {
  readonly count: number;
  /** Asked before each request. */
  readonly enough: () => boolean;
  readonly onEnd?: (tally: Tally) => void;
}

/** Tells whether a time from now on is over; never, when none is given. */
const timeUp = (budgetMs: number | undefined): (() => boolean) => {
  if (budgetMs === undefined) return () => false;
  const untilMs = performance.now() + budgetMs;
  return () => performance.now() > untilMs;
};

/** Resolves when a count is reached. */
class Reached {
  readonly promise: Promise<void>;
  #resolve: () => void = () => undefined;

  constructor(private readonly count: number) {
    this.promise = new Promise((resolve) => (this.#resolve = resolve));
  }

  note(count: number): void {
    if (count >= this.count) this.#resolve();
  }
}

/** One sentence on a part's audit. */
export const describeAudit = ({ counted, drift }: Audit): string =>
  `The log has ${counted.events} events; ${counted.overspends} of its ${counted.reserves} reserves overspent; ` +
  `the copies differ in ${driftOf(drift)} places.`;
