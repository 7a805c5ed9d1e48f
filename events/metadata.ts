import { Schema } from './schema.js';

/** The longest metadata, in bytes of JSON. */
export const METADATA_BYTES_MAX = 4096;

/** A caller's own JSON object, kept with the event as it came. Its size is checked where it enters. */
export const Metadata = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
  identifier: 'Metadata',
  jsonSchema: {
    type: 'object',
    description: "A caller's own JSON object, kept as it came",
    additionalProperties: true,
  },
  arbitrary: () => (fc) => fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
});
export type Metadata = typeof Metadata.Type;
