import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { NOTE_LENGTH_MAX, checkpointOrigin } from '../../events/index.js';
import type { CheckpointPiece } from '../core/checkpoints.js';

/*
 * A file of checkpoints: each note followed by an empty line. So a note's text ends at the first empty line, the note at the
 * second; what stands behind the last of those was not written to its end.
 */

const EMPTY_LINE = '\n\n';
const CHUNK_BYTES = 65_536;
/** Two notes fit: one whole and one that was begun. */
const WINDOW_BYTES = 2 * NOTE_LENGTH_MAX;

/** A file that is not one of this ledger's checkpoints, so nothing is written to it. */
export class CheckpointFileError extends Error {
  override readonly name = 'CheckpointFileError';
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The byte behind the first whole record in `bytes` (its two empty lines), or -1. */
const recordEnd = (bytes: Buffer): number => {
  const text = bytes.indexOf(EMPTY_LINE);
  const end = text < 0 ? -1 : bytes.indexOf(EMPTY_LINE, text + EMPTY_LINE.length);
  return end < 0 ? -1 : end + EMPTY_LINE.length;
};

const pieceFrom = (at: number, record: Buffer): CheckpointPiece => {
  try {
    return { kind: 'note', at, note: utf8.decode(record.subarray(0, -1)) };
  } catch {
    return { kind: 'unreadable', at, why: 'it is not text in UTF-8' };
  }
};

/** Reads a file of checkpoints from its beginning, in flat memory. Ends at the first thing that can't be told apart. Raises what opening raises. */
export const readCheckpointFile = async function* (path: string): AsyncGenerator<CheckpointPiece> {
  const file = await open(path, 'r');
  try {
    let at = 0;
    let bytes = Buffer.alloc(0);
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (;;) {
      for (let end = recordEnd(bytes); end >= 0; end = recordEnd(bytes)) {
        yield pieceFrom(at, bytes.subarray(0, end));
        bytes = bytes.subarray(end);
        at += end;
      }
      if (bytes.length > NOTE_LENGTH_MAX) {
        yield { kind: 'unreadable', at, why: 'what begins here is longer than any checkpoint' };
        return;
      }
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, null);
      if (bytesRead === 0) break;
      bytes = Buffer.concat([bytes, chunk.subarray(0, bytesRead)]);
    }
    if (bytes.length > 0) yield { kind: 'torn', at, bytes: bytes.length };
  } finally {
    await file.close();
  }
};

/** Where the last whole record of a window begins and ends; undefined when it holds none. */
const lastRecord = (bytes: Buffer): { readonly from: number; readonly to: number } | undefined => {
  for (let to = bytes.lastIndexOf(EMPTY_LINE); to > 0; to = bytes.lastIndexOf(EMPTY_LINE, to - 1)) {
    const text = bytes.lastIndexOf(EMPTY_LINE, to - 1);
    if (text < 0) return undefined;
    if (!bytes.toString('utf8', text + EMPTY_LINE.length, to).startsWith('\u2014 ')) continue;
    const before = text === 0 ? -1 : bytes.lastIndexOf(EMPTY_LINE, text - 1);
    return { from: before < 0 ? 0 : before + EMPTY_LINE.length, to: to + EMPTY_LINE.length };
  }
  return undefined;
};

/** A file that one process appends checkpoints to. What it acknowledges is on the disk. */
export class CheckpointFile {
  #length: number;

  private constructor(
    private readonly file: FileHandle,
    length: number,
    /** The last note that was there when it was opened. */
    readonly last: string | undefined,
    /** Bytes of a torn end that were cut off then. */
    readonly tornBytes: number,
  ) {
    this.#length = length;
  }

  /**
   * Opens a file, or makes it. The torn end that a killed writer left is cut off. Raises CheckpointFileError when it is no file of this
   * ledger's checkpoints, and what the file system raises.
   */
  static async open(path: string, ledger: string): Promise<CheckpointFile> {
    const file = await open(path, 'a+', 0o644);
    try {
      const { size } = await file.stat();
      const from = Math.max(0, size - WINDOW_BYTES);
      const window = Buffer.alloc(size - from);
      await file.read(window, 0, window.length, from);
      const record = lastRecord(window);
      const whole = record?.to ?? 0;
      const torn = window.subarray(whole);
      // Not a byte is cut off whatever else an operator may have named by mistake.
      const ours = `${checkpointOrigin(ledger)}\n`;
      if (
        !startsAs(torn, ours) ||
        (record === undefined && from > 0) ||
        (record !== undefined && !startsAs(window.subarray(record.from), ours))
      )
        throw new CheckpointFileError(`${path} does not end in a checkpoint of this ledger; nothing is written to it.`);
      if (torn.length > 0) await file.truncate(from + whole);
      await syncFolder(path);
      const last = record === undefined ? undefined : utf8.decode(window.subarray(record.from, record.to - 1));
      return new CheckpointFile(file, from + whole, last, torn.length);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Appends a note and waits until it is on the disk. One at a time. After a failure the next one begins where this one did. */
  async append(note: string): Promise<void> {
    const bytes = Buffer.from(`${note}\n`);
    await this.file.truncate(this.#length);
    await this.file.appendFile(bytes);
    await this.file.sync();
    this.#length += bytes.length;
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

const startsAs = (bytes: Buffer, start: string): boolean => {
  const begin = bytes.subarray(0, Buffer.byteLength(start)).toString('latin1');
  return start.startsWith(begin);
};

/** So that a file that was just made is still there after a power cut. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};
