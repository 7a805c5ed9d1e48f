import type { Checkpoint, Head } from './ports.js';

/*
 * What a doctor looks at, as each service says it: nothing is judged here, and nothing is written. `away` in place of facts says why
 * a service could not be asked, without any secret.
 */

export interface Away {
  readonly away: string;
}

/** A head with what stands at the end of its log. */
export interface AuditedHead extends Head {
  /** The hash of the event at the head's position; absent: there is none. */
  readonly eventHash?: string;
  /** The last position that has an event; 0 when there is none. */
  readonly lastPosition: number;
}

export interface PostgresFacts {
  /** Its clock, and this host's at the same moment (the middle of the question), ms since 1970. */
  readonly nowMs: number;
  readonly hostMs: number;
  readonly standby: boolean;
  /** 0: `migrate` has not been here. */
  readonly schemaVersion: number;
  readonly ledger?: {
    readonly ledger: string;
    readonly name: string;
    readonly partitions: number;
    readonly incarnation: number;
    readonly oldestProgram: number;
    /** `system identifier/timeline`, stored and present ones. */
    readonly storedMark: string;
    readonly presentMark: string;
  };
  readonly heads: readonly AuditedHead[];
  /** Triggers that keep the log append-only and are missing or not always on. */
  readonly triggersOff: readonly string[];
  /** In words: what the writer's role may not and should, or may and should not. */
  readonly rightsWrong: readonly string[];
}

export interface TopicFacts {
  readonly exists: boolean;
  readonly partitions: number;
  /** In words: setting, its value, what it must be. */
  readonly settingsWrong: readonly string[];
  /** The first event of each partition that has one, by position. */
  readonly firsts: ReadonlyMap<number, number>;
  readonly tails: readonly Checkpoint[];
}

export interface RedisPartitionFacts {
  readonly partition: number;
  readonly checkpoint?: Checkpoint;
  readonly rebuilding: boolean;
  readonly ready: boolean;
}

export interface RedisFacts {
  readonly servers: readonly { readonly address: string; readonly role: string; readonly policy: string }[];
  readonly partitions: readonly RedisPartitionFacts[];
}

/** All of it, gathered in this order: what `before` shows was committed before Kafka and Redis were asked, `after` is at least as far. */
export interface DoctorFacts {
  readonly program: number;
  readonly wanted: { readonly name: string; readonly partitions: number };
  readonly before: PostgresFacts | Away;
  readonly topic: TopicFacts | Away;
  readonly redis: RedisFacts | Away;
  readonly after: PostgresFacts | Away;
  /** The journal's hashes at given places, by `partition/position`. */
  readonly hashes: ReadonlyMap<string, string>;
}
