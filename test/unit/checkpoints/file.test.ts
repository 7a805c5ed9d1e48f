import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkpointText, makeNoteKey, readNoteSigner } from '../../../events/index.js';
import { CheckpointFile, readCheckpointFile } from '../../../src/checkpoints/file.js';
import type { CheckpointPiece } from '../../../src/core/checkpoints.js';

const signer = readNoteSigner(makeNoteKey('test').secret, 'test');
const noteAt = (position: number): string =>
  signer.sign(checkpointText({ ledger: 'l1', incarnation: 1, timeMs: 0, heads: Array.from({ length: 64 }, () => ({ position, hash: 'a'.repeat(64) })) })); // prettier-ignore

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'checkpoints-'));
});
afterAll(() => rm(folder, { recursive: true }));

const piecesOf = async (path: string): Promise<CheckpointPiece[]> => {
  const pieces: CheckpointPiece[] = [];
  for await (const piece of readCheckpointFile(path)) pieces.push(piece);
  return pieces;
};

describe('a file of checkpoints', () => {
  test('gives back what was appended, over reopenings and more than one chunk', async () => {
    const path = join(folder, 'many');
    const notes = Array.from({ length: 100 }, (_, n) => noteAt(n + 1));
    for (const part of [notes.slice(0, 40), notes.slice(40)]) {
      const file = await CheckpointFile.open(path, 'l1');
      expect(file.last).toBe(part === notes ? undefined : notes[notes.indexOf(part[0] ?? '') - 1]);
      for (const note of part) await file.append(note);
      await file.close();
    }
    const pieces = await piecesOf(path);
    expect(pieces.map((piece) => (piece.kind === 'note' ? piece.note : piece.kind))).toEqual(notes);
  });

  test('cut anywhere: what is whole is read, the rest is said; a writer goes on behind what is whole', async () => {
    const path = join(folder, 'torn');
    const [first, second] = [noteAt(1), noteAt(2)];
    const whole = Buffer.from(`${first}\n${second}\n`);
    const firstEnd = Buffer.byteLength(first) + 1;
    for (let cut = 0; cut < whole.length; cut += 13) {
      await writeFile(path, whole.subarray(0, cut));
      const kept = cut < firstEnd ? 0 : firstEnd;
      const pieces = await piecesOf(path);
      expect(pieces.filter(({ kind }) => kind === 'note')).toHaveLength(kept === 0 ? 0 : 1);
      if (cut > kept) expect(pieces.at(-1)).toEqual({ kind: 'torn', at: kept, bytes: cut - kept });
      const file = await CheckpointFile.open(path, 'l1');
      expect(file.tornBytes).toBe(cut - kept);
      await file.append(second);
      await file.close();
      expect(await readFile(path, 'utf8')).toBe(kept === 0 ? `${second}\n` : `${first}\n${second}\n`);
    }
  });

  test.each([
    ['a text', 'root:x:0:0\n\nmore'],
    ['another ledger', noteAt(1).replace('holdfast/l1', 'holdfast/l2')],
  ])('of %s is not written to', async (_what, content) => {
    const path = join(folder, 'foreign');
    await writeFile(path, content);
    await expect(CheckpointFile.open(path, 'l1')).rejects.toThrow('nothing is written to it');
    expect(await readFile(path, 'utf8')).toBe(content);
  });

  test('that goes on without an end is given up', async () => {
    const path = join(folder, 'endless');
    await writeFile(path, 'a'.repeat(1_000_000));
    expect(await piecesOf(path)).toMatchObject([{ kind: 'unreadable', at: 0 }]);
  });
});
