import {
  AMOUNT_MAX,
  HOLD_POLICIES,
  IDENTIFIER_PATTERN,
  LEVELS,
  METADATA_BYTES_MAX,
  TENANT_PATTERN,
  UNIT_PATTERN,
  EXPIRED,
  isAccountName,
} from '../../events/index.js';
import type { Metadata, Usage } from '../../events/index.js';
import type { AmountsGiven } from '../core/command.js';
import { InvalidInputError } from './ledger.js';

/** Most accounts in one reservation (design, section 1). */
export const ACCOUNTS_MAX = 8;
/** Most kinds of tokens in a usage report. */
const USAGE_KINDS_MAX = 32;
const REASON_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;
const REASON_LENGTH_MAX = 500;

/*
 * What enters the ledger is checked here once more, whatever the way in has checked: the in-process ledger has no HTTP
 * before it. Every function raises InvalidInputError, which names the field as the interfaces spell it.
 */

const check = (right: boolean, field: string, message: string): void => {
  if (!right) throw new InvalidInputError(field, message);
};

/** Callers in JavaScript are not held by the types. */
const matches = (pattern: RegExp, text: string): boolean => typeof text === 'string' && pattern.test(text);
const isBetween = (min: bigint, amount: bigint, max: bigint): boolean =>
  typeof amount === 'bigint' && amount >= min && amount <= max;

/** An id of any kind, as IDENTIFIER_PATTERN has it. */
export const checkId = (id: string, field = 'id'): string => {
  check(matches(IDENTIFIER_PATTERN, id), field, `${field} must be 1 to 128 of A-Z a-z 0-9 . _ : @ / -`);
  return id;
};

/** A tenant: no `/`, and a letter or digit first. */
export const checkTenant = (tenant: string): string => {
  check(
    matches(TENANT_PATTERN, tenant),
    'tenant',
    'tenant must start with a letter or digit and have 1 to 128 of A-Z a-z 0-9 . _ : @ -',
  );
  return tenant;
};

/** An account's name: its tenant, or its tenant, `/` and more. */
export const checkAccountName = (account: string, field = 'account'): string => {
  check(
    typeof account === 'string' && isAccountName(account),
    field,
    `${field} must be a tenant, or a tenant followed by / and a name`,
  );
  return account;
};

/** The accounts of a reservation: 1 to 8, each once. */
export const checkAccounts = (accounts: readonly string[]): readonly string[] => {
  check(
    accounts.length >= 1 && accounts.length <= ACCOUNTS_MAX,
    'accounts',
    `accounts must be 1 to ${ACCOUNTS_MAX.toString()} names`,
  );
  check(new Set(accounts).size === accounts.length, 'accounts', 'accounts must name each account once');
  return accounts.map((account) => checkAccountName(account, 'accounts'));
};

/** The name of a unit. */
export const checkUnit = (unit: string, field = 'unit'): string => {
  check(matches(UNIT_PATTERN, unit), field, `${field} must be 1 to 16 of A-Z 0-9 _, a letter first`);
  return unit;
};

/** An amount that may be 0 but not less. */
export const checkAmount = (amount: bigint, field: string): bigint => {
  check(isBetween(0n, amount, AMOUNT_MAX), field, `${field} must be a whole number from 0 to 9223372036854775807`);
  return amount;
};

/** An amount of a recharge: more than 0. */
export const checkPositive = (amount: bigint, field = 'amount'): bigint => {
  check(isBetween(1n, amount, AMOUNT_MAX), field, `${field} must be a whole number from 1 to 9223372036854775807`);
  return amount;
};

/** An amount of an adjustment: signed, not 0. */
export const checkSigned = (amount: bigint, field = 'amount'): bigint => {
  check(
    amount !== 0n && isBetween(-AMOUNT_MAX, amount, AMOUNT_MAX),
    field,
    `${field} must be a whole number within 64 bits, not 0`,
  );
  return amount;
};

/** Amounts as a caller gives them: each 0 or more, for at most 8 units. */
export const checkAmounts = (given: AmountsGiven): AmountsGiven => {
  if (given.kind === 'sole') checkAmount(given.amount, 'amount');
  if (given.kind === 'by_unit') {
    check(given.amounts.size >= 1 && given.amounts.size <= ACCOUNTS_MAX, 'amounts', 'amounts must name 1 to 8 units');
    for (const [unit, amount] of given.amounts) checkAmount(amount, `amounts.${checkUnit(unit, 'amounts')}`);
  }
  return given;
};

/** A time to live in whole seconds, from 1 to the longest that is configured. */
export const checkTtl = (seconds: number, max: number): number => {
  check(
    Number.isInteger(seconds) && seconds >= 1 && seconds <= max,
    'ttl_seconds',
    `ttl_seconds must be a whole number from 1 to ${max.toString()}`,
  );
  return seconds;
};

/** A caller's own JSON, bounded in bytes. */
export const checkMetadata = (metadata: Metadata | undefined): Metadata | undefined => {
  if (metadata === undefined) return undefined;
  const text = asJson(metadata);
  check(
    text.startsWith('{') && Buffer.byteLength(text) <= METADATA_BYTES_MAX,
    'metadata',
    `metadata must be a JSON object of at most ${METADATA_BYTES_MAX.toString()} bytes`,
  );
  check(!text.includes(PROTO_NAME), 'metadata', 'metadata must have no member named __proto__');
  // A copy, as the log will have it: what JSON drops is dropped here, and the caller may change its own afterwards.
  return JSON.parse(text) as Metadata;
};

/** A member of this name in JSON without white space: those who read events would lose it, or take it for a prototype. */
const PROTO_NAME = '"__proto__":';

/** The value as JSON; something else than an object's when it has none (a circle, a bigint, undefined). */
const asJson = (value: unknown): string => {
  try {
    const text: unknown = JSON.stringify(value);
    return typeof text === 'string' ? text : '';
  } catch {
    return '';
  }
};

/** Tokens by kind: whole numbers, at most 32 kinds. */
export const checkUsage = (usage: Usage | undefined): Usage | undefined => {
  if (usage === undefined) return undefined;
  const kinds = Object.entries(usage);
  check(kinds.length <= USAGE_KINDS_MAX, 'usage', `usage must have at most ${USAGE_KINDS_MAX.toString()} kinds`);
  for (const [kind, tokens] of kinds)
    check(
      IDENTIFIER_PATTERN.test(kind) && kind !== '__proto__' && Number.isSafeInteger(tokens) && tokens >= 0,
      'usage',
      'usage must hold whole numbers of tokens by kind',
    );
  return usage;
};

/** A refund's reason: a short word that statistics can count. `expired` is the sweeper's own. */
export const checkRefundReason = (reason: string): string => {
  check(
    matches(REASON_PATTERN, reason) && reason !== EXPIRED,
    'reason',
    'reason must be 1 to 64 of a-z 0-9 _, a letter first, and not "expired"',
  );
  return reason;
};

/** The reason of an adjustment, in words. */
export const checkAdjustReason = (reason: string): string => {
  check(
    typeof reason === 'string' && reason.trim() !== '' && Array.from(reason).length <= REASON_LENGTH_MAX,
    'reason',
    `reason must be a text of 1 to ${REASON_LENGTH_MAX.toString()} characters`,
  );
  return reason;
};

/** Decimal places of a unit, 0 to 18. */
export const checkScale = (scale: number): number => {
  check(Number.isInteger(scale) && scale >= 0 && scale <= 18, 'scale', 'scale must be a whole number from 0 to 18');
  return scale;
};

/** One of a closed list. */
export const checkChoice = <T extends string>(choices: readonly T[], value: T, field: string): T => {
  check(choices.includes(value), field, `${field} must be one of ${choices.join(', ')}`);
  return value;
};

/** A level of acknowledgement; whether it is offered is another question. */
export const checkLevel = (level: (typeof LEVELS)[number]) => checkChoice(LEVELS, level, 'level');
/** A policy for the amount that is held. */
export const checkPolicy = (policy: (typeof HOLD_POLICIES)[number]) =>
  checkChoice(HOLD_POLICIES, policy, 'hold_policy');

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A trace context that is not well formed is dropped, as W3C Trace Context asks: it must not fail a request. */
export const traceOf = (traceparent: string | undefined): { readonly traceparent?: string } =>
  traceparent !== undefined && TRACEPARENT.test(traceparent) ? { traceparent } : {};
