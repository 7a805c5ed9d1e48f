import { contradictionBetween, openNote, parseCheckpoint } from '../../events/index.js';
import type { LogCheckpoint, VerifierKey } from '../../events/index.js';
import type { CheckpointPiece, CheckpointSource } from '../core/checkpoints.js';

/** Something about checkpoints that is not as it must be. */
export interface CheckpointFinding {
  /** Which checkpoint, from 1 on. */
  readonly checkpoint: number;
  /** `file`: the checkpoint itself; else the log that contradicts it. */
  readonly where: 'file' | 'postgres' | 'kafka';
  readonly partition?: number;
  readonly position?: number;
  readonly what: string;
}

/** What holding a log to its checkpoints found. All is well when `count` is 0 and there was at least one checkpoint. */
export interface CheckpointsVerdict {
  readonly checkpoints: number;
  /** Places of the log that were compared in Postgres; repeated ones count once. */
  readonly places: number;
  readonly count: number;
  /** The first few. */
  readonly findings: readonly CheckpointFinding[];
  /** The end of the file is a checkpoint that was not written to its end: passed over. */
  readonly torn?: { readonly at: number; readonly bytes: number };
  /** Where the last one stands in time, ms since 1970: nothing later is proven. */
  readonly lastMs?: number;
}

export interface CheckpointsCheckParts {
  readonly ledger: string;
  readonly source: Pick<CheckpointSource, 'hashesAt'>;
  readonly keys: readonly VerifierKey[];
}

const FINDINGS_MAX = 50;
/** Look-ups in one query. */
const BATCH = 1_000;
/** Places that are remembered for Kafka, at most: about 100 MB. Of those beyond, Postgres alone is asked. */
const REMEMBERED_MAX = 500_000;

interface SignedPlace {
  readonly checkpoint: number;
  readonly partition: number;
  readonly position: number;
  readonly hash: string;
}

/**
 * Holds a log to its checkpoints: signatures, that they only go forward, and that Postgres has each event with the hash that was
 * signed. Memory does not grow with the file, but for what is remembered for Kafka.
 */
export class CheckpointsCheck {
  #checkpoints = 0;
  #places = 0;
  #count = 0;
  #last: LogCheckpoint | undefined;
  #torn: CheckpointsVerdict['torn'];
  readonly #findings: CheckpointFinding[] = [];
  #waiting: SignedPlace[] = [];
  readonly #remembered = new Map<string, SignedPlace>();

  constructor(private readonly parts: CheckpointsCheckParts) {}

  /** Reads the checkpoints and asks Postgres. Raises UnavailableError, and what reading the file raises. */
  async take(pieces: AsyncIterable<CheckpointPiece>): Promise<void> {
    for await (const piece of pieces) {
      if (piece.kind === 'torn') {
        this.#torn = { at: piece.at, bytes: piece.bytes };
        continue;
      }
      this.#checkpoints += 1;
      const where = `at byte ${piece.at.toString()}`;
      if (piece.kind === 'unreadable') this.#fileFinding(`${where}: ${piece.why}`);
      else this.#takeNote(piece.note, where);
      if (this.#waiting.length >= BATCH) await this.#ask();
    }
    await this.#ask();
    if (this.#checkpoints === 0) this.#fileFinding('there is no checkpoint in it: nothing is proven');
  }

  /** Compares messages of Kafka's log, which a full verify reads anyway. */
  takeMessages(partition: number, messages: readonly { readonly position: number; readonly hash: string }[]): void {
    for (const { position, hash } of messages) {
      const place = this.#remembered.get(`${partition.toString()}/${position.toString()}`);
      if (place !== undefined && place.hash !== hash)
        this.#differs('kafka', place, 'the event on Kafka is not the one that was signed');
    }
  }

  get verdict(): CheckpointsVerdict {
    return {
      checkpoints: this.#checkpoints,
      places: this.#places,
      count: this.#count,
      findings: this.#findings,
      ...(this.#torn === undefined ? {} : { torn: this.#torn }),
      ...(this.#last === undefined ? {} : { lastMs: this.#last.timeMs }),
    };
  }

  #takeNote(note: string, where: string): void {
    let checkpoint: LogCheckpoint;
    try {
      checkpoint = parseCheckpoint(openNote(note, this.parts.keys).text);
    } catch (error) {
      this.#fileFinding(`${where}: ${error instanceof Error ? error.message : String(error)}`);
      return;
    }
    const { ledger } = this.parts;
    if (checkpoint.ledger !== ledger) {
      this.#fileFinding(`${where}: it is of ledger ${checkpoint.ledger}, and this one is ${ledger}`);
      return;
    }
    const before = this.#last;
    const contradiction = before === undefined ? undefined : contradictionBetween(before, checkpoint);
    if (contradiction !== undefined) this.#add({ checkpoint: this.#checkpoints, where: 'file', ...contradiction });
    for (const [partition, { position, hash }] of checkpoint.heads.entries())
      if (position > 0 && before?.heads[partition]?.position !== position)
        this.#waiting.push({ checkpoint: this.#checkpoints, partition, position, hash });
    this.#last = checkpoint;
  }

  async #ask(): Promise<void> {
    const places = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < places.length; at += BATCH) {
      const batch = places.slice(at, at + BATCH);
      const hashes = await this.parts.source.hashesAt(batch);
      for (const [n, place] of batch.entries()) this.#compare(place, hashes[n]);
    }
  }

  #compare(place: SignedPlace, hash: string | undefined): void {
    this.#places += 1;
    if (this.#remembered.size < REMEMBERED_MAX)
      this.#remembered.set(`${place.partition.toString()}/${place.position.toString()}`, place);
    if (hash === undefined) this.#differs('postgres', place, 'the event that was signed is gone: the tail was cut off');
    else if (hash !== place.hash)
      this.#differs(
        'postgres',
        place,
        'the event is not the one that was signed: the log was rewritten here or before',
      );
  }

  #differs(where: 'postgres' | 'kafka', { checkpoint, partition, position }: SignedPlace, what: string): void {
    this.#add({ checkpoint, where, partition, position, what });
  }

  #fileFinding(what: string): void {
    this.#add({ checkpoint: this.#checkpoints, where: 'file', what });
  }

  #add(finding: CheckpointFinding): void {
    this.#count += 1;
    if (this.#findings.length < FINDINGS_MAX) this.#findings.push(finding);
  }
}
