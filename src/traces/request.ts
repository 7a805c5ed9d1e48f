/** One request of a trace: when it came, and how many tokens went in and out. */
export interface TraceRequest {
  /** Milliseconds since the trace's first request. */
  readonly offsetMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A trace that can't be read or generated. The message names file and line, or the option. */
export class TraceError extends Error {
  override readonly name = 'TraceError';
}
