import { parseVerifierKey } from '../../events/index.js';
import type { VerifierKey } from '../../events/index.js';
import { readCheckpointFile } from '../checkpoints/file.js';
import { coveringCheckpoint, placeOfEvent, proofLines } from '../checkpoints/proof.js';
import type { Config } from '../config/settings.js';
import type { JournalReading, LedgerRecord } from '../journal/index.js';
import { createLogger } from '../logging.js';
import { CheckpointsCheck } from '../recovery/verify-checkpoints.js';
import { checkpointSigner, checkpointTopic } from './checkpoints.js';

export interface CheckpointsWith {
  readonly config: Config;
  readonly identity: LedgerRecord;
  readonly reading: JournalReading;
}

/** Which checkpoints, and whose signature is believed. */
export interface CheckpointsWish {
  /** Absent: the configured file, else the topic. */
  readonly file?: string | undefined;
  /** Verifier keys as text; none: that of the configured key. */
  readonly keys: readonly string[];
}

/** Whose signature is believed. Raises NoteRefusedError for a text that is no key, ConfigError for a key file that can't be used. */
const keysOf = ({ config, identity }: CheckpointsWith, texts: readonly string[]): readonly VerifierKey[] => {
  if (texts.length > 0) return texts.map(parseVerifierKey);
  const own = checkpointSigner(config, identity.ledger);
  return own === undefined ? [] : [own.signer.verifier];
};

/** A check that has read the file and asked Postgres; Kafka's messages may be held to it. Raises UnavailableError, NoteRefusedError, and what reading the file raises. */
export const checkCheckpoints = async (
  parts: CheckpointsWith,
  file: string,
  keys: readonly string[],
): Promise<CheckpointsCheck> => {
  const check = new CheckpointsCheck({
    ledger: parts.identity.ledger,
    source: parts.reading.checkpoints,
    keys: keysOf(parts, keys),
  });
  await check.take(readCheckpointFile(file));
  return check;
};

const notesIn = async function* (file: string): AsyncGenerator<string> {
  for await (const piece of readCheckpointFile(file)) if (piece.kind === 'note') yield piece.note;
};

/** The lines of the proof of an event. Raises NoProofError, NoteRefusedError, UnavailableError, KafkaError, and what reading the file raises. */
export const proveEvent = async function* (
  parts: CheckpointsWith,
  event: string,
  wish: CheckpointsWish,
): AsyncGenerator<string> {
  const { config, identity, reading } = parts;
  const place = placeOfEvent(event, identity.ledger);
  const keys = keysOf(parts, wish.keys);
  const file = wish.file ?? config.checkpoints.file;
  const topic = checkpointTopic(config, createLogger({ level: 'silent' }));
  try {
    const notes = file === undefined ? topic.notes() : notesIn(file);
    const covering = await coveringCheckpoint(notes, keys, identity.ledger, place);
    yield* proofLines(reading.reader, place, covering);
  } finally {
    await topic.close();
  }
};
