/** The log on the real Postgres, and beside it the fold, which is given the same commands at the same moments. */
import pg from 'pg';
import { expect } from 'vitest';
import type { StoredEvent } from '../../events/index.js';
import type { Command } from '../../src/core/command.js';
import type { PostgresJournal } from '../../src/journal/index.js';
import { UnavailableError } from '../../src/core/ports.js';
import type { Appended } from '../../src/core/ports.js';
import type { Bench } from '../integration/journal-setting.js';
import { startProxy } from '../stack/proxy.js';
import type { FaultProxy } from '../stack/proxy.js';
import { broken } from './broken-appends.js';
import type { Break } from './broken-appends.js';
import { MOVE_CLOCK, READ_CLOCK, movableClock } from './movable-clock.js';
import { PlainLedger } from './plain-ledger.js';
import { ReferenceLog } from './reference-log.js';
import type { DrivenLog } from './reference-log.js';

const PARTITION = 0;
const READ_MAX = 1000;

/** What of an event must be the same to the byte. */
const linkOf = ({ body, prevHash, hash }: StoredEvent) => ({ body, prevHash, hash });

export class SqlLog implements DrivenLog {
  readonly plain = new PlainLedger();
  readonly fold: ReferenceLog;
  /** How often each word was said: `Reserved`, `amount_overflow`, `replay`, `outcome_unknown` … */
  readonly said = new Map<string, number>();
  private journal: PostgresJournal;
  private next: Break | undefined;

  private constructor(
    readonly bench: Bench,
    readonly admin: pg.Client,
    readonly proxy: FaultProxy,
  ) {
    const { ledger, incarnation } = bench.ledger;
    this.fold = new ReferenceLog(PARTITION, incarnation, ledger);
    this.journal = this.open();
  }

  /** On a database of its own with one partition. */
  static async open(bench: Bench): Promise<SqlLog> {
    const admin = new pg.Client({ connectionString: bench.url });
    await admin.connect();
    const database = new URL(bench.url).pathname.slice(1);
    await admin.query(movableClock(database));
    // Backends die here, never the server: waiting for the disk would only take time.
    await admin.query(`alter database ${database} set synchronous_commit = off`);
    return new SqlLog(bench, admin, await startProxy(bench.url));
  }

  async close(): Promise<void> {
    await this.admin.end();
    await this.bench.close();
    await this.proxy.close();
  }

  /** The journal of a new process. */
  async restart(): Promise<void> {
    await this.journal.close();
    this.journal = this.open();
  }

  /** Appends a command, and holds the answer and the events to the fold's. Raises what the journal raises. */
  async append(command: Command): Promise<Appended> {
    const [answer] = await this.appendTogether([command]);
    if (answer === undefined) throw new Error('One command has one answer.');
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  }

  /** The same for commands that arrive at once, and so in one group. */
  async appendTogether(commands: readonly Command[]): Promise<readonly PromiseSettledResult<Appended>[]> {
    const send = () => Promise.allSettled(commands.map((command) => this.journal.append(command)));
    const how = this.next;
    this.next = undefined;
    const before = await this.clock();
    const answers = how === undefined ? await send() : await broken(how, this, send);
    const after = await this.clock();
    const written = await this.read(this.fold.head.position, READ_MAX);
    const timeMs = written[0]?.event.timeMs;
    if (timeMs !== undefined) expect(before <= timeMs && timeMs <= after, 'time is read under the lock').toBe(true);
    // Where nothing was written the moment is not known; but what writes nothing then would have written nothing before.
    this.fold.nowMs = timeMs ?? before;
    const made: StoredEvent[] = [];
    commands.forEach((command, index) => {
      const answer = answers[index];
      if (answer === undefined) throw new Error('Every command has an answer.');
      made.push(...this.follow(command, answer, written.length > 0));
    });
    expect(written.map(linkOf)).toEqual(made.map(linkOf));
    return answers;
  }

  /** The next append is broken. */
  breakNext(how: Break): void {
    this.next = how;
  }

  /** None is, should none have come. */
  mend(): void {
    this.next = undefined;
  }

  read(after: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.bench.reading.reader.read(PARTITION, after, limit);
  }

  async passTime(seconds: number): Promise<void> {
    await this.admin.query(MOVE_CLOCK, [seconds]);
  }

  /** What the fold makes of a command that has this answer; nothing when it surely did not happen. */
  private follow(command: Command, answer: PromiseSettledResult<Appended>, committed: boolean): readonly StoredEvent[] {
    if (answer.status === 'rejected') {
      const reason: unknown = answer.reason;
      if (!(reason instanceof UnavailableError)) throw reason;
      this.say(reason.code);
      if (reason.code !== 'outcome_unknown') expect(committed, reason.code).toBe(false);
      if (!committed) return [];
    }
    const maxCosts = new Map(this.fold.state.maxCosts);
    const { decision, events } = this.fold.execute(command);
    if (answer.status === 'fulfilled') expect(answer.value).toEqual({ decision, events, partition: PARTITION });
    this.plain.take(command, decision, maxCosts);
    for (const { event } of events) this.say(event.name);
    if (decision.outcome === 'rejected') this.say(decision.rejection.code);
    else if (decision.replay) this.say('replay');
    return events;
  }

  private say(word: string): void {
    this.said.set(word, (this.said.get(word) ?? 0) + 1);
  }

  private async clock(): Promise<number> {
    const { rows } = await this.admin.query<{ now_ms: string }>(READ_CLOCK);
    return Number(rows[0]?.now_ms);
  }

  private open(): PostgresJournal {
    const url = this.proxy.through(this.bench.url);
    return this.bench.journal({ lanes: 1, postgres: { url }, outcomeTimeoutMs: 100 });
  }
}
