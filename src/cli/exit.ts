import { SessionLostError } from '../compose.js';
import { NoteRefusedError } from '../../events/index.js';
import { ConfigError } from '../config/load.js';
import { UnavailableError } from '../core/ports.js';
import type { Rejection } from '../core/rejection.js';
import { InvalidInputError } from '../service/ledger.js';
import { StackError } from '../stack/index.js';

/** Exit codes of every command. */
export const EXIT = {
  fine: 0,
  /** It found something: drift, a mismatch, a refusal. */
  found: 1,
  wrongUse: 2,
  /** A service cannot be reached. */
  unreachable: 3,
} as const;

/** Raised by a command that was used wrongly in a way that only it can see. */
export class WrongUseError extends Error {
  override readonly name = 'WrongUseError';
}

/** The ledger said no to a command of the command line. */
export class RejectedError extends Error {
  override readonly name = 'RejectedError';
  constructor(readonly rejection: Rejection) {
    super(describeRejection(rejection));
  }
}

/** A rejection in one line: its code, and what it names. */
export const describeRejection = ({ code, ...details }: Rejection): string => {
  const words = Object.entries(details).map(([key, value]) => `${key} ${String(value)}`);
  return words.length === 0 ? code : `${code}: ${words.join(', ')}`;
};

const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EPIPE',
  'unreachable',
]);

const codeOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;

/** The exit code that an error means. */
export const exitCodeOf = (error: unknown): number => {
  if (error instanceof StackError) return error.exitCode;
  if (error instanceof NoteRefusedError && error.code === 'bad_key') return EXIT.wrongUse;
  if (error instanceof RejectedError) return EXIT.found;
  if (error instanceof ConfigError || error instanceof InvalidInputError || error instanceof WrongUseError)
    return EXIT.wrongUse;
  const away = error instanceof UnavailableError || error instanceof SessionLostError;
  if (away || CONNECTION_CODES.has(codeOf(error) ?? '')) return EXIT.unreachable;
  return EXIT.found;
};

/** Runs a command's body: its number becomes the exit code, an error one line on stderr and a code. */
export const exiting = async (body: () => Promise<number>): Promise<void> => {
  try {
    process.exitCode = await body();
  } catch (error) {
    process.stderr.write(`holdfast: ${error instanceof Error ? messageOf(error) : String(error)}\n`);
    process.exitCode = exitCodeOf(error);
  }
};

/** An AggregateError (a refused connection to several addresses) has no message of its own. */
const messageOf = (error: Error): string => {
  if (error.message !== '') return error.message;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return first instanceof Error ? first.message : error.name;
};
