import { IDENTIFIER_PATTERN } from '../../../events/index.js';
import { Schema } from '../../../events/schema.js';

/** An id of the caller's making. */
export const Id = Schema.String.pipe(
  Schema.pattern(IDENTIFIER_PATTERN, { description: '1 to 128 of A-Z a-z 0-9 . _ : @ / -' }),
);

/** The same rule as isAccountName, as one pattern. */
const ACCOUNT_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:@-]*(?:\/[A-Za-z0-9._:@/-]*[A-Za-z0-9._:@-])?$/;

export const AccountName = Schema.String.pipe(
  Schema.pattern(ACCOUNT_PATTERN, {
    jsonSchema: { pattern: ACCOUNT_PATTERN.source, maxLength: 128 },
    description: 'An account: a tenant, or a tenant followed by / and more; at most 128 of A-Z a-z 0-9 . _ : @ / -',
  }),
);

const TENANT = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;

export const Tenant = Schema.String.pipe(
  Schema.pattern(TENANT, { description: 'A tenant: 1 to 128 of A-Z a-z 0-9 . _ : @ -, a letter or digit first.' }),
);

/** Most accounts of one reservation (design, section 1). */
const ACCOUNTS_MAX = 8;

export const AccountNames = Schema.Array(AccountName).annotations({
  jsonSchema: {
    type: 'array',
    description: `1 to ${ACCOUNTS_MAX.toString()} accounts of one tenant, each once.`,
    items: { type: 'string', pattern: ACCOUNT_PATTERN.source, maxLength: 128 },
    minItems: 1,
    maxItems: ACCOUNTS_MAX,
    uniqueItems: true,
  },
});

/** The caller's own JSON object; its size is checked where it enters the ledger. */
export const MetadataBody = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
  jsonSchema: {
    type: 'object',
    description: "The caller's own JSON object, at most 4096 bytes, kept with the event.",
    additionalProperties: true,
  },
});

/** A member that may be left out. */
export const maybe = <S extends Schema.Schema.Any>(schema: S) => Schema.optional(schema);

/** The parameter of a path; URL-encoded there. */
export const AccountPath = Schema.Struct({ id: AccountName });
export const IdPath = Schema.Struct({ id: Id });
export type ById = typeof IdPath.Type;
