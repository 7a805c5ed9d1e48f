import { chainHash, messageOf, openNote, parseCheckpoint } from '../../events/index.js';
import type { LogCheckpoint, SealedEvent, VerifierKey } from '../../events/index.js';
import type { LogPlace } from '../core/checkpoints.js';
import type { SealedReader } from '../core/ports.js';

/** A proof that can't be given; the message says why. */
export class NoProofError extends Error {
  override readonly name = 'NoProofError';
}

/** The first checkpoint that covers an event. */
export interface CoveringCheckpoint {
  readonly note: string;
  readonly checkpoint: LogCheckpoint;
}

const PAGE = 500;

/** An event's place from its id, `<ledger>.<partition>.<position>`. Raises NoProofError. */
export const placeOfEvent = (id: string, ledger: string): LogPlace => {
  const [, of, partition, position] = /^(.{1,64})\.(\d{1,4})\.([1-9]\d{0,14})$/.exec(id) ?? [];
  if (of === undefined) throw new NoProofError(`${id} is no event’s id: it is <ledger>.<partition>.<position>.`);
  if (of !== ledger) throw new NoProofError(`${id} is an event of another ledger; this one is ${ledger}.`);
  return { partition: Number(partition), position: Number(position) };
};

/** The first of these notes that one of the keys has signed and that covers the place. Raises NoProofError when none does, and what reading raises. */
export const coveringCheckpoint = async (
  notes: AsyncIterable<string>,
  keys: readonly VerifierKey[],
  ledger: string,
  { partition, position }: LogPlace,
): Promise<CoveringCheckpoint> => {
  let read = 0;
  for await (const note of notes) {
    const checkpoint = believed(note, keys);
    if (checkpoint?.ledger !== ledger) continue;
    read += 1;
    if ((checkpoint.heads[partition]?.position ?? 0) >= position) return { note, checkpoint };
  }
  throw new NoProofError(
    `None of the ${read.toString()} checkpoints of this key covers partition ${partition.toString()}, position ${position.toString()}; if the event is new, the next one will.`,
  );
};

const believed = (note: string, keys: readonly VerifierKey[]): LogCheckpoint | undefined => {
  try {
    return parseCheckpoint(openNote(note, keys).text);
  } catch {
    return undefined;
  }
};

/**
 * The lines of a proof: a header, the events from the place to the checkpoint as they are on Kafka, an empty line, the checkpoint.
 * Raises NoProofError as soon as the log does not lead there, so whatever was written before is no proof.
 */
export const proofLines = async function* (
  reader: SealedReader,
  place: LogPlace,
  { note, checkpoint }: CoveringCheckpoint,
): AsyncGenerator<string> {
  const { partition, position } = place;
  const head = checkpoint.heads[partition];
  const last = head?.position ?? 0;
  const event = `${checkpoint.ledger}.${partition.toString()}.${position.toString()}`;
  yield `${JSON.stringify({ proof: 'holdfast/1', event, partition, position, last })}\n`;
  let before: SealedEvent | undefined;
  for (let after = position - 1; after < last;) {
    const page = await reader.readSealed(partition, after, Math.min(PAGE, last - after));
    for (const stored of page) {
      const follows = stored.event.position === after + 1 && (before === undefined || stored.prevHash === before.hash);
      if (!follows || chainHash(stored.prevHash, stored.body) !== stored.hash)
        throw new NoProofError(
          `The log is broken at partition ${partition.toString()}, position ${(after + 1).toString()}: run holdfast verify.`,
        );
      yield `${messageOf(stored)}\n`;
      before = stored;
      after += 1;
    }
    if (page.length === 0)
      throw new NoProofError(
        `The log ends before position ${last.toString()} of partition ${partition.toString()}, which was signed: its tail was cut off.`,
      );
  }
  if (before?.hash !== head?.hash)
    throw new NoProofError(
      `The log does not lead to the signed hash of partition ${partition.toString()}, position ${last.toString()}: it was rewritten.`,
    );
  yield `\n${note}`;
};
