/** The language of the ledger: everything that is said on its log, and nothing about how. */
export * from './account.js';
export * from './amount.js';
export * from './canonical.js';
export * from './catalogue.js';
export * from './checkpoint.js';
export * from './decode.js';
export * from './envelope.js';
export * from './funding.js';
export * from './identifier.js';
export * from './json-schema.js';
export * from './metadata.js';
export * from './model.js';
export * from './place.js';
export * from './posting.js';
export * from './reservation.js';
export * from './signed-note.js';
export * from './upcast.js';
