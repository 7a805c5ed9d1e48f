import { checkpointText, contradictionBetween, openNote, parseCheckpoint, splitNote } from '../../events/index.js';
import type { Contradiction, LogCheckpoint, NoteSigner } from '../../events/index.js';
import type { CheckpointSource, CheckpointTopic, HeadsMoment } from '../core/checkpoints.js';
import type { Elected, Elections } from '../core/ports.js';
import { CheckpointFile } from './file.js';

export interface CheckpointerParts {
  readonly ledger: string;
  readonly signer: NoteSigner;
  readonly source: CheckpointSource;
  readonly elections: Elections;
  /** Path of the file that checkpoints are appended to, when there is one. */
  readonly file?: string;
  readonly topic: CheckpointTopic;
  /** Told of each checkpoint once it is where it belongs. Must not raise. */
  readonly onSigned: (checkpoint: LogCheckpoint) => void;
  /** Told once, when the log contradicts what was signed. Must not raise. */
  readonly onRefused: (why: string) => void;
  /** Told of what an operator should know and need not act upon. Must not raise. */
  readonly onNotice: (what: string) => void;
}

/** The office of whoever signs. */
const OFFICE = 'checkpoints';

/** What was signed and is not everywhere yet. */
interface Undelivered {
  readonly checkpoint: LogCheckpoint;
  readonly note: string;
  inFile: boolean;
}

/** Reads a note that this key has signed; undefined for any other. */
const ownNote =
  (signer: NoteSigner, ledger: string) =>
  (note: string): LogCheckpoint | undefined => {
    try {
      const checkpoint = parseCheckpoint(openNote(note, [signer.verifier]).text);
      return checkpoint.ledger === ledger ? checkpoint : undefined;
    } catch {
      return undefined;
    }
  };

const sizeOf = ({ heads }: LogCheckpoint): bigint => heads.reduce((sum, { position }) => sum + BigInt(position), 0n);

const inWords = ({ partition, position, what }: Contradiction): string =>
  [
    ...(partition === undefined ? [] : [`partition ${partition.toString()}`]),
    ...(position === undefined ? [] : [`position ${position.toString()}`]),
    what,
  ].join(', ');

/** Why the log as it is now can't be signed after `last`; undefined when it can. */
export const contradictionInLog = (
  ledger: string,
  last: LogCheckpoint | undefined,
  moment: HeadsMoment,
): Contradiction | undefined => {
  for (const [partition, { position, hash, eventHash, askedHash }] of moment.heads.entries()) {
    if (position > 0 && eventHash !== hash) return { partition, position, what: 'the head is not the last event' };
    const before = last?.heads[partition];
    if (before !== undefined && before.position > 0 && askedHash !== undefined && askedHash !== before.hash)
      return { partition, position: before.position, what: 'the event is not the one that was signed' };
  }
  return last === undefined ? undefined : contradictionBetween(last, checkpointOf(ledger, moment));
};

const checkpointOf = (ledger: string, { incarnation, nowMs, heads }: HeadsMoment): LogCheckpoint => ({
  ledger,
  incarnation,
  timeMs: nowMs,
  heads: heads.map(({ position, hash }) => ({ position, hash })),
});

/**
 * Signs where the log stands, while this process holds the office, into a file and a topic. It never signs what contradicts the
 * last checkpoint that either of them held when it began: then it stops for good, until an operator starts the process again.
 */
export class Checkpointer {
  #office: Elected | undefined;
  #file: CheckpointFile | undefined;
  #last: LogCheckpoint | undefined;
  #undelivered: Undelivered | undefined;
  #refused: string | undefined;
  #state = 'has not run yet';

  constructor(private readonly parts: CheckpointerParts) {}

  /** How it is, in words. */
  get state(): { readonly ok: boolean; readonly state: string } {
    return { ok: this.#refused === undefined, state: this.#state };
  }

  /** Signs once, if there is something new. Raises what the services and the file system raise; the next call goes on from there. */
  async run(): Promise<void> {
    if (this.#refused !== undefined) return;
    if (!(await this.#elected())) {
      this.#state = 'another process signs, or Postgres is away';
      return;
    }
    const { ledger, source } = this.parts;
    const places = (this.#last?.heads ?? []).flatMap(({ position }, partition) =>
      position === 0 ? [] : [{ partition, position }],
    );
    const moment = await source.headsWith(places);
    const contradiction = contradictionInLog(ledger, this.#last, moment);
    if (contradiction !== undefined) {
      this.#refuse(inWords(contradiction));
      return;
    }
    const now = checkpointOf(ledger, moment);
    if (this.#isNew(now)) this.#sign(now);
    await this.#deliver();
  }

  /** Gives the office up and lets go of file and topic. */
  async close(): Promise<void> {
    await this.#letGo();
    await this.parts.topic.close();
  }

  async #elected(): Promise<boolean> {
    if (this.#office !== undefined && !this.#office.signal.aborted) return true;
    await this.#letGo();
    this.#office = await this.parts.elections.tryElect(OFFICE, 0);
    if (this.#office === undefined) return false;
    try {
      await this.#remember();
      return true;
    } catch (error) {
      // Without knowing what was signed before, nothing can be signed.
      await this.#letGo();
      throw error;
    }
  }

  /** What was signed last, by whomever: in the file and in the topic. */
  async #remember(): Promise<void> {
    const { ledger, signer, topic, onNotice } = this.parts;
    const read = ownNote(signer, ledger);
    const inTopic = await topic.newest(read);
    const inFile = await this.#openFile(read);
    const [one, other] = [inTopic, inFile]
      .filter((found) => found !== undefined)
      .sort((a, b) => Number(sizeOf(a) - sizeOf(b)));
    const contradiction = one === undefined || other === undefined ? undefined : contradictionBetween(one, other);
    if (contradiction !== undefined)
      this.#refuse(`the last checkpoints of file and topic contradict each other: ${inWords(contradiction)}`);
    this.#last = other ?? one;
    if (this.#last === undefined) onNotice('no checkpoint of this ledger and key was found: the first one is signed');
    this.#state = 'nothing to sign yet';
  }

  async #openFile(read: (note: string) => LogCheckpoint | undefined): Promise<LogCheckpoint | undefined> {
    const { file, ledger, onNotice } = this.parts;
    if (file === undefined) return undefined;
    this.#file = await CheckpointFile.open(file, ledger);
    const { last, tornBytes } = this.#file;
    if (tornBytes > 0)
      onNotice(`${tornBytes.toString()} bytes of a checkpoint that was not written to its end were cut off ${file}`);
    if (last === undefined) return undefined;
    const own = read(last);
    if (own !== undefined) return own;
    // Of another key, or changed: it can only keep this process from signing, so it is taken at its word.
    onNotice(`the last checkpoint in ${file} is not signed by this key; it is compared all the same`);
    return parseCheckpoint(splitNote(last).text);
  }

  #isNew(now: LogCheckpoint): boolean {
    const last = this.#last;
    if (last?.incarnation !== now.incarnation) return true;
    return now.heads.some(({ position }, partition) => position !== last.heads[partition]?.position);
  }

  #sign(checkpoint: LogCheckpoint): void {
    // An office that was lost a moment ago: its next holder signs.
    if (this.#office?.signal.aborted !== false) return;
    this.#undelivered = { checkpoint, note: this.parts.signer.sign(checkpointText(checkpoint)), inFile: false };
    // From now on: whatever becomes of file and topic, this was signed.
    this.#last = checkpoint;
  }

  async #deliver(): Promise<void> {
    const waiting = this.#undelivered;
    if (waiting === undefined) return;
    if (!waiting.inFile) await this.#file?.append(waiting.note);
    waiting.inFile = true;
    await this.parts.topic.append(waiting.note);
    this.#undelivered = undefined;
    this.#state = `signed ${sizeOf(waiting.checkpoint).toString()} events at ${new Date(waiting.checkpoint.timeMs).toISOString()}`;
    this.parts.onSigned(waiting.checkpoint);
  }

  #refuse(why: string): void {
    if (this.#refused !== undefined) return;
    this.#refused = why;
    this.#state = `signs nothing any more: the log contradicts what was signed: ${why}; run holdfast verify --checkpoints`;
    this.parts.onRefused(why);
  }

  async #letGo(): Promise<void> {
    const [file, office] = [this.#file, this.#office];
    this.#file = undefined;
    this.#office = undefined;
    // It would come behind those of the next holder.
    this.#undelivered = undefined;
    await file?.close();
    await office?.release();
  }
}
