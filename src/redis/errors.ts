/** Redis is set up in a way that would make a guard a no-op. The program refuses to start; `setting` names what to change. */
export class RedisSettingError extends Error {
  override readonly name = 'RedisSettingError';
  constructor(
    readonly setting: string,
    message: string,
  ) {
    super(message);
  }
}

/** What kept a script from answering. */
export type FaultKind =
  /** The command was not sent: nothing happened. */
  | 'not_sent'
  /** It may have run: the connection broke, or the answer did not come in time. */
  | 'outcome_unknown'
  /** This server does not hold the slot (any more): nothing happened. */
  | 'moved'
  /** The server answered that it can't: nothing happened. */
  | 'refused'
  /** The script itself failed: a fault of this program, or data that it did not write. */
  | 'script_failed';

/** Raised inside the adapter, and turned into an outcome at its edge. */
export class RedisFault extends Error {
  override readonly name = 'RedisFault';
  constructor(
    readonly kind: FaultKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const MOVED = /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN|CROSSSLOT)\b/;
/** Answers that come before a script's first write. */
const REFUSED = /^(OOM|READONLY|LOADING|MISCONF|BUSY|MASTERDOWN|NOAUTH|NOPERM|NOREPLICAS|UNKILLABLE|WRONGPASS)\b/;
const NOT_SENT = /enableOfflineQueue/;

/** Sorts an error of the client library by what it says about the command's effect. */
export const faultOf = (error: unknown): RedisFault => {
  if (error instanceof RedisFault) return error;
  const message = error instanceof Error ? error.message : String(error);
  const options = { cause: error };
  if (NOT_SENT.test(message)) return new RedisFault('not_sent', 'The connection to Redis is not open.', options);
  if (MOVED.test(message)) return new RedisFault('moved', message, options);
  // Redis 6 puts the error of a command in a script behind words of its own.
  const inner = /(?:^|-|: )((?:OOM|READONLY|MISCONF|NOREPLICAS)\b)/.test(message);
  if (REFUSED.test(message) || inner) return new RedisFault('refused', message, options);
  if (error instanceof Error && error.name === 'ReplyError') return new RedisFault('script_failed', message, options);
  return new RedisFault('outcome_unknown', message, options);
};
