export type StackErrorCode = 'service_unavailable' | 'stack_busy' | 'state_unreadable' | 'stack_interrupted';

/**
 * A failure that is meant for the reader of a terminal: one sentence that says what is missing and the command that
 * mends it. `exitCode` follows the command line's convention (3: a service can't be had; 130: interrupted).
 */
export class StackError extends Error {
  readonly code: StackErrorCode;
  override readonly name = 'StackError';

  constructor(code: StackErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get exitCode(): number {
    return this.code === 'stack_interrupted' ? 130 : 3;
  }
}

/** The message of anything thrown, on one line. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replace(/\s*\n\s*/g, ' ').trim();
}

/** @throws StackError `stack_interrupted` when the signal has fired, so that no further step starts. */
export function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new StackError('stack_interrupted', 'Interrupted: nothing was left running.');
}

/** A URL with its password blanked, for messages and logs. */
export function withoutPassword(address: string): string {
  return address.replace(/(\/\/[^:@/\s]*):[^@/\s]*@/g, '$1:***@');
}
