import { pino } from 'pino';
import type { DestinationStream, LevelWithSilent, Logger } from 'pino';

export type { Logger } from 'pino';

export interface LogOptions {
  readonly level?: LevelWithSilent;
  /** Default: standard output, written behind the program's back. */
  readonly destination?: DestinationStream;
}

/** A key's text, and the password in an address (`postgres://user:password@host`). */
const KEY_TEXT = /hf_([0-9a-f]{16})_[A-Za-z0-9_-]{43}/g;
const ADDRESS_PASSWORD = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:@/"]*):[^\s@"]+@/gi;
const SECRET = '[secret]';

/** Takes secrets out of a text: what a key keeps to itself, and passwords in addresses. */
export const withoutSecrets = (text: string): string =>
  text.replace(KEY_TEXT, `hf_$1_${SECRET}`).replace(ADDRESS_PASSWORD, `$1:${SECRET}@`);

const SECRET_MEMBERS = ['authorization', 'password', 'secret', 'token', 'key', 'sasl', 'secretSha256'];

/**
 * The program's log: JSON, a line an entry, times as RFC 3339. Secrets do not get in: members that bear their names are
 * replaced, and every line is searched once more as it is written, since an error's text may hold an address.
 */
export const createLogger = ({ level = 'info', destination }: LogOptions = {}): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRET_MEMBERS.flatMap((name) => [name, `*.${name}`]),
        censor: SECRET,
      },
      hooks: { streamWrite: withoutSecrets },
    },
    destination ?? pino.destination({ dest: 1, sync: false }),
  );

/** How long the same words about the same fault are not said again, ms. */
const SAID_AGAIN_MS = 60_000;

/** Takes note of faults that come again and again while a service is away: the same words at most once a minute. */
export const faultsOf = (
  logger: Pick<Logger, 'warn' | 'error'>,
  part: string,
  level: 'warn' | 'error' = 'warn',
): ((error: unknown, what: string) => void) => {
  let last = { words: '', atMs: -SAID_AGAIN_MS };
  return (error, what) => {
    const words = `${what}: ${error instanceof Error ? error.message : String(error)}`;
    if (words === last.words && performance.now() - last.atMs < SAID_AGAIN_MS) return;
    last = { words, atMs: performance.now() };
    logger[level]({ part, err: error }, what);
  };
};
