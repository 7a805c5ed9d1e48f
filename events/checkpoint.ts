import { hash as digest } from 'node:crypto';
import { genesisHash } from './canonical.js';

/*
 * The text of a checkpoint, modelled on C2SP's tlog-checkpoint; docs/CHECKPOINTS.md says it byte by byte. It differs where a
 * ledger is not one Merkle tree but a hash chain per partition: the "root hash" is over the partitions' lines.
 */

/** Where one partition stood: its position (0 when empty) and the hash of its event there (then the genesis hash). */
export interface CheckpointedHead {
  readonly position: number;
  /** Lower-case hex. */
  readonly hash: string;
}

/** Where a whole ledger stood at one moment. */
export interface LogCheckpoint {
  readonly ledger: string;
  readonly incarnation: number;
  /** Milliseconds since 1970, on Postgres's clock. */
  readonly timeMs: number;
  /** By partition, all of them. */
  readonly heads: readonly CheckpointedHead[];
}

/** A text that is no checkpoint; the message says which line is wrong. */
export class MalformedCheckpointError extends Error {
  override readonly name = 'MalformedCheckpointError';
}

const ORIGIN_PREFIX = 'holdfast/';
const PARTITIONS_MAX = 1_024;
/** Origin, size, hash, incarnation, time. */
const LINES_BEFORE_HEADS = 5;
const WHOLE = /^(?:0|[1-9]\d{0,15})$/;

/** The first line: what log it is. */
export const checkpointOrigin = (ledger: string): string => `${ORIGIN_PREFIX}${ledger}`;

/** The text of a checkpoint; it ends in a newline. */
export const checkpointText = ({ ledger, incarnation, timeMs, heads }: LogCheckpoint): string => {
  const size = heads.reduce((sum, { position }) => sum + BigInt(position), 0n);
  const lines = heads
    .map(({ position, hash }, partition) => `${partition.toString()} ${position.toString()} ${hash}\n`)
    .join('');
  const first = [
    checkpointOrigin(ledger),
    size.toString(),
    digest('sha256', lines, 'base64'),
    `incarnation ${incarnation.toString()}`,
    `time ${new Date(timeMs).toISOString()}`,
  ];
  return `${first.join('\n')}\n${lines}`;
};

const whole = (text: string | undefined, what: string): number => {
  const value = text !== undefined && WHOLE.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value))
    throw new MalformedCheckpointError(`This is no checkpoint: ${what} is no whole number.`);
  return value;
};

const headFrom = (ledger: string, line: string, partition: number): CheckpointedHead => {
  const what = `the line of partition ${partition.toString()}`;
  const [, number, position, hash] = /^(\d+) (\d+) ([0-9a-f]{64})$/.exec(line) ?? [];
  if (hash === undefined || whole(number, what) !== partition)
    throw new MalformedCheckpointError(`This is no checkpoint: ${what} is of another form.`);
  const head = { position: whole(position, what), hash };
  if (head.position === 0 && hash !== genesisHash(ledger, partition))
    throw new MalformedCheckpointError(
      `This is no checkpoint: ${what} is empty, and its hash is not the genesis hash.`,
    );
  return head;
};

/** Reads the text of a checkpoint: exactly what checkpointText writes, or MalformedCheckpointError. */
export const parseCheckpoint = (text: string): LogCheckpoint => {
  const [origin = '', size, hash, incarnation, time = '', ...lines] = text.split('\n');
  const count = lines.length - 1;
  if (count < 1 || count > PARTITIONS_MAX || lines.at(-1) !== '')
    throw new MalformedCheckpointError(
      `This is no checkpoint: it has not 1 to ${PARTITIONS_MAX.toString()} partitions in lines of their own.`,
    );
  const ledger = /^holdfast\/([A-Za-z0-9._-]{1,64})$/.exec(origin)?.[1];
  if (ledger === undefined)
    throw new MalformedCheckpointError('This is no checkpoint: its first line is not holdfast/<ledger>.');
  const read = {
    ledger,
    incarnation: whole(/^incarnation (\d+)$/.exec(incarnation ?? '')?.[1], 'the incarnation'),
    timeMs: Date.parse(/^time (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/.exec(time)?.[1] ?? ''),
    heads: lines.slice(0, count).map((line, partition) => headFrom(ledger, line, partition)),
  };
  if (Number.isNaN(read.timeMs)) throw new MalformedCheckpointError('This is no checkpoint: its time is none.');
  // What is written in one way only can be compared as a whole: size, hash, and every digit.
  const [, rightSize, rightHash] = checkpointText(read).split('\n', LINES_BEFORE_HEADS);
  if (size !== rightSize)
    throw new MalformedCheckpointError('This is no checkpoint: its size is not the sum of its positions.');
  if (hash !== rightHash)
    throw new MalformedCheckpointError('This is no checkpoint: its hash is not that of its partitions.');
  if (checkpointText(read) !== text)
    throw new MalformedCheckpointError('This is no checkpoint: it is not written as one is.');
  return read;
};

/** What keeps two checkpoints from being of one log. */
export interface Contradiction {
  /** Absent when it concerns the whole ledger. */
  readonly partition?: number;
  readonly position?: number;
  readonly what: string;
}

/** Why `later` can't follow `earlier`: another ledger, a partition that went back, another hash at the same position. Undefined when it can. */
export const contradictionBetween = (earlier: LogCheckpoint, later: LogCheckpoint): Contradiction | undefined => {
  if (earlier.ledger !== later.ledger)
    return { what: `it is of ledger ${later.ledger}, the one before of ${earlier.ledger}` };
  if (earlier.heads.length !== later.heads.length)
    return { what: 'it has another number of partitions than the one before' };
  if (later.incarnation < earlier.incarnation) return { what: 'its incarnation is lower than that of the one before' };
  for (const [partition, before] of earlier.heads.entries()) {
    const after = later.heads[partition];
    const [from, to] = [before.position, after?.position ?? 0];
    if (to < from)
      return {
        partition,
        position: to,
        what: `the partition goes back from position ${from.toString()} to ${to.toString()}`,
      };
    if (to === from && after?.hash !== before.hash)
      return { partition, position: from, what: 'another hash than the one before has at this position' };
  }
  return undefined;
};
