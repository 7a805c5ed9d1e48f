import { Schema } from './schema.js';

/** Ids, account names and model names: 1 to 128 of these characters. */
export const IDENTIFIER_PATTERN = /^[A-Za-z0-9._:@/-]{1,128}$/;
/** A tenant: an id without `/` (that separates tenant and rest in an account's name) that starts with a letter or digit. */
export const TENANT_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;
/** A unit: `USD`, `TOK`, … */
export const UNIT_PATTERN = /^[A-Z][A-Z0-9_]{0,15}$/;

/** The tenant under which events stand that belong to no customer. No customer can have it: tenants start with a letter or digit. */
export const SYSTEM_TENANT = '@holdfast';

export const TIMESTAMP_PATTERN = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** True for a moment as the log writes it: RFC 3339, UTC, three decimals, and a date that exists. */
export const isTimestamp = (text: string): boolean => {
  if (!TIMESTAMP_PATTERN.test(text)) return false;
  const timeMs = Date.parse(text);
  // Date.parse reads February 30 as March 2.
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString() === text;
};

export const Identifier = Schema.String.pipe(Schema.pattern(IDENTIFIER_PATTERN)).annotations({
  identifier: 'Identifier',
  description: 'An id or a name: 1 to 128 of A-Z a-z 0-9 . _ : @ / -',
});

export const UnitName = Schema.String.pipe(Schema.pattern(UNIT_PATTERN)).annotations({
  identifier: 'UnitName',
  description: 'What an amount counts: USD, TOK, …',
});

export const Timestamp = Schema.String.pipe(
  Schema.filter(isTimestamp, {
    jsonSchema: { type: 'string', format: 'date-time', pattern: TIMESTAMP_PATTERN.source },
    arbitrary: () => (fc) =>
      fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }).map((date) => date.toISOString()),
  }),
).annotations({ identifier: 'Timestamp', description: 'RFC 3339 in UTC, with milliseconds' });

/** The tenant of an account: everything before the first `/` of its name. */
export const tenantOf = (account: string): string => {
  const slash = account.indexOf('/');
  return slash === -1 ? account : account.slice(0, slash);
};

/** True when `account` is well formed: a tenant, or a tenant, `/` and more. */
export const isAccountName = (account: string): boolean =>
  IDENTIFIER_PATTERN.test(account) && TENANT_PATTERN.test(tenantOf(account)) && !account.endsWith('/');
