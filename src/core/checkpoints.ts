import type { Head } from './ports.js';

/** A place in the log. */
export interface LogPlace {
  readonly partition: number;
  readonly position: number;
}

/** A partition's head at one moment, beside what the log itself says. Hashes in lower-case hex; undefined: there is no such event. */
export interface WitnessedHead extends Head {
  /** Hash of the event at the head's position. */
  readonly eventHash: string | undefined;
  /** Hash of the event at the place that was asked for. */
  readonly askedHash: string | undefined;
}

/** All partitions at one moment. */
export interface HeadsMoment {
  readonly incarnation: number;
  /** Postgres's clock, ms since 1970. */
  readonly nowMs: number;
  /** By partition. */
  readonly heads: readonly WitnessedHead[];
}

/** The journal as checkpoints need it; index look-ups all. Raises UnavailableError when Postgres can't be asked. */
export interface CheckpointSource {
  /** Every head in one snapshot, and in the same one the hashes at the given places: at most one a partition. */
  headsWith(places: readonly LogPlace[]): Promise<HeadsMoment>;
  /** The hashes of the events at places, in their order; undefined where there is none. At most 10,000 places. */
  hashesAt(places: readonly LogPlace[]): Promise<readonly (string | undefined)[]>;
}

/** What a file of checkpoints is made of, in its order. `at` is the byte where it begins. */
export type CheckpointPiece =
  | { readonly kind: 'note'; readonly at: number; readonly note: string }
  /** The end of the file is a checkpoint that was not written to its end. */
  | { readonly kind: 'torn'; readonly at: number; readonly bytes: number }
  | { readonly kind: 'unreadable'; readonly at: number; readonly why: string };

/** Where checkpoints go besides a file. */
export interface CheckpointTopic {
  /** The newest note that `read` knows what to do with; undefined when there is none. Raises when it can't be looked at. */
  newest<T>(read: (note: string) => T | undefined): Promise<T | undefined>;
  /** Resolves once it is acknowledged. */
  append(note: string): Promise<void>;
  close(): Promise<void>;
}
