/**
 * The one place that imports @effect/schema. The package has since moved into `effect` itself; when Holdfast moves
 * with it, this file is the whole change.
 */
export { Schema, JSONSchema, ParseResult, Arbitrary } from '@effect/schema';
