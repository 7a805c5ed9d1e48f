/** The contract between a service's own file (postgres.ts, redis.ts, kafka.ts) and what starts the stack. */
import type { ServiceProcess } from './processes.js';
import type { Progress } from './progress.js';
import type { ServiceName } from './services.js';

/** Thrown by a source that can't be used here; the message completes "…, as <message>". */
export class Unusable extends Error {
  override readonly name = 'Unusable';
  /** The command that would mend it, when there is one. */
  readonly mend: string | undefined;

  constructor(message: string, mend?: string, options?: ErrorOptions) {
    super(message, options);
    this.mend = mend;
  }
}

export interface FindContext {
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}

/** Where a service keeps its things. */
export interface Place {
  /** Its own folder; made when missing. */
  readonly folder: string;
  readonly logFile: string;
  /** The ports it had before, taken again when they are free. */
  readonly ports?: readonly number[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Launched {
  readonly process: ServiceProcess;
  readonly ports: readonly number[];
  readonly address: string;
  /** Where the data really lie: not always inside the place's folder. */
  readonly dataDir: string;
}

/** A program that was found and can run here. */
export interface LocalProgram {
  readonly source: 'path' | 'package';
  /** In words: which version, from where. */
  readonly detail: string;
  readonly version: string;
  /** Starts it and resolves when it answers. @throws Unusable when it does not come up. */
  launch(place: Place): Promise<Launched>;
}

export interface ProgramFinder {
  readonly source: 'path' | 'package';
  /** @throws Unusable when there is no such program, or it can't be used. */
  find(context: FindContext): Promise<LocalProgram>;
}

/** A service as this machine can run it: where its program may come from, in order. */
export interface LocalService {
  readonly name: ServiceName;
  readonly finders: readonly ProgramFinder[];
}
