import type { StoredEvent } from '../../events/index.js';
import { inTime } from '../core/in-time.js';
import type { CurrentIncarnation } from '../core/incarnation.js';
import type { Checkpoint, Head, Witness } from '../core/ports.js';
import { int4Array, int8Array } from './binary.js';
import { FencedError, LedgerMismatchError } from './errors.js';
import { readLedger } from './ledger.js';
import type { LedgerRecord } from './ledger.js';
import type { Session } from './session.js';
import { readHashes } from './sql/events.js';
import { readAllHeads } from './sql/log.js';
import { call } from './statement.js';
import type { Statement } from './statement.js';

export interface FenceOptions {
  readonly witnesses: readonly Witness[];
  readonly incarnation: CurrentIncarnation;
  /** How long a witness may take, ms. Default 2,000. */
  readonly witnessTimeoutMs?: number;
  /** A witness could not be heard, and was left out. Must not raise. */
  readonly onSkipped?: (witness: string, error: unknown) => void;
}

/** What `pass` asks over a connection. */
export const FENCE_STATEMENTS: readonly Statement<unknown>[] = [readLedger, readAllHeads];

const WITNESS_TIMEOUT_MS = 2_000;
/** How long a verdict stands before the database is looked at again, ms. */
const VERDICT_MS = 1_000;

interface Testimony {
  readonly witness: Pick<Witness, 'name' | 'outlivesResume'>;
  readonly tails: readonly Checkpoint[];
}

/**
 * Looks at the database behind every new connection before its first write (design, section 4): is it the cluster and the timeline
 * that the ledger stands in, and does its log reach and match what Kafka, Redis and this process have seen of it? A journal that
 * went back (an older backup, a standby that lagged) would give out the same positions a second time. Until an operator resumes,
 * nothing is written.
 */
export class Fence {
  readonly #options: FenceOptions;
  readonly #own = new Map<number, Checkpoint>();
  #passed = false;
  #closed: { readonly why: string; readonly incarnation: number; untilMs: number } | undefined;

  constructor(options: FenceOptions) {
    this.#options = options;
  }

  /** Why nothing is written; undefined while the journal is open. */
  get why(): string | undefined {
    return this.#closed?.why;
  }

  /** True once a connection was let through, and while the last verdict is no refusal. */
  get open(): boolean {
    return this.#passed && this.#closed === undefined;
  }

  /** Takes note of what this process has committed. */
  committed(partition: number, events: readonly StoredEvent[]): void {
    const last = events.at(-1);
    if (last === undefined) return;
    const { position, incarnation } = last.event;
    this.#options.incarnation.noted(incarnation);
    this.#own.set(partition, { partition, position, hash: last.hash, incarnation });
  }

  /** Lets a connection through. Raises FencedError, and what the session raises. */
  async pass(session: Session): Promise<void> {
    const closed = this.#closed;
    if (closed !== undefined && performance.now() < closed.untilMs) throw new FencedError(closed.why);
    // Witnesses first: what they have was committed before, so the heads read afterwards can only be further.
    const testimonies = await this.#hear();
    const [[ledger], heads] = await session.run(call(readLedger), call(readAllHeads));
    if (ledger === undefined) throw new LedgerMismatchError('The database has no ledger any more.');
    const resumed = closed === undefined || ledger.incarnation > closed.incarnation;
    const why = resumed ? await this.#contradiction(session, ledger, heads, testimonies) : closed.why;
    if (why === undefined) {
      this.#closed = undefined;
      this.#passed = true;
      this.#options.incarnation.noted(ledger.incarnation);
      return;
    }
    const incarnation = resumed ? ledger.incarnation : closed.incarnation;
    this.#closed = { why, incarnation, untilMs: performance.now() + VERDICT_MS };
    throw new FencedError(why);
  }

  async #hear(): Promise<readonly Testimony[]> {
    const own: Testimony = {
      witness: { name: 'this process', outlivesResume: false },
      tails: [...this.#own.values()],
    };
    const heard = this.#options.witnesses.map(async (witness): Promise<Testimony> => {
      try {
        const ms = this.#options.witnessTimeoutMs ?? WITNESS_TIMEOUT_MS;
        const tails = await inTime(witness.tails(), ms, `no answer within ${ms.toString()} ms`);
        return { witness, tails };
      } catch (error) {
        this.#options.onSkipped?.(witness.name, error);
        return { witness, tails: [] };
      }
    });
    return [own, ...(await Promise.all(heard))];
  }

  async #contradiction(
    session: Session,
    ledger: LedgerRecord,
    heads: readonly Head[],
    testimonies: readonly Testimony[],
  ): Promise<string | undefined> {
    const marked = markProblem(ledger, this.#options.incarnation.value);
    if (marked !== undefined) return marked;
    for (const { witness, tails } of testimonies) {
      // What a resume has given up is no evidence any more.
      const counts = ({ incarnation }: Checkpoint): boolean =>
        witness.outlivesResume || incarnation >= ledger.incarnation;
      const why = await disagreement(session, heads, witness.name, tails.filter(counts));
      if (why !== undefined) return why;
    }
    return undefined;
  }
}

/** What is wrong with the place that the database is in; with its incarnation too, where one is known. */
export const markProblem = (
  { created, present, incarnation }: LedgerRecord,
  known = incarnation,
): string | undefined => {
  if (created.systemIdentifier !== present.systemIdentifier)
    return 'the database is in another Postgres cluster than the ledger was left in (it was restored or moved)';
  if (created.timeline !== present.timeline)
    return `Postgres is on timeline ${present.timeline.toString()}, and the ledger was left on ${created.timeline.toString()} (a standby was promoted, or a backup restored)`;
  if (incarnation < known)
    return `the database has incarnation ${incarnation.toString()} of the ledger, and this process has seen ${known.toString()}`;
  return undefined;
};

/** How a witness contradicts the log: it has seen more of it, or other events. */
export const disagreement = async (
  session: Session,
  heads: readonly Head[],
  name: string,
  tails: readonly Checkpoint[],
): Promise<string | undefined> => {
  const ends = new Map(heads.map(({ partition, position }) => [partition, position]));
  const ahead = tails.find(({ partition, position }) => position > (ends.get(partition) ?? 0));
  if (ahead !== undefined)
    return `${name} has seen position ${ahead.position.toString()} of partition ${ahead.partition.toString()}, and the journal ends at ${(ends.get(ahead.partition) ?? 0).toString()}`;
  const seen = tails.filter(({ position }) => position > 0);
  if (seen.length === 0) return undefined;
  const partitions = int4Array(seen.map(({ partition }) => partition));
  const [rows] = await session.run(call(readHashes, partitions, int8Array(seen.map(({ position }) => position))));
  const hashes = new Map(rows.map(({ partition, hash }) => [partition, hash]));
  const other = seen.find(({ partition, hash }) => hashes.get(partition) !== hash);
  return other === undefined
    ? undefined
    : `${name} has seen another event at position ${other.position.toString()} of partition ${other.partition.toString()} than the journal has: a fork`;
};
