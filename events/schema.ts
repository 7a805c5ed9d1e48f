/**
 * The one place that imports @effect/schema. The package has since moved into `effect` itself; when Holdfast moves
 * with it, this file is the whole change.
 */
import { Schema } from '@effect/schema';

export { AST, Arbitrary, ArrayFormatter, JSONSchema, ParseResult, Schema } from '@effect/schema';

/** A member that is always there, with what the published schemas say of it. */
export const member = <A, I>(of: Schema.Schema<A, I>, description: string) =>
  Schema.propertySignature(of).annotations({ description });

/** A member that may be missing (never null), with what the published schemas say of it. */
export const optionalMember = <A, I>(of: Schema.Schema<A, I>, description: string) =>
  Schema.optionalWith(of, { exact: true }).annotations({ description });

/** Text of `min` to `max` characters, counted as JSON Schema counts them: in code points. */
export const boundedText = (min: number, max: number) =>
  Schema.String.pipe(
    Schema.filter(
      (text) => {
        const { length } = Array.from(text);
        return length >= min && length <= max;
      },
      {
        jsonSchema: { type: 'string', minLength: min, maxLength: max },
        arbitrary: () => (fc) => fc.string({ minLength: min, maxLength: Math.min(max, min + 20) }),
      },
    ),
  );

/** A whole number from `min` up that a JSON number holds exactly. */
export const wholeFrom = (min: number) =>
  Schema.Number.pipe(
    Schema.filter((value) => Number.isSafeInteger(value) && value >= min, {
      jsonSchema: { type: 'integer', minimum: min, maximum: Number.MAX_SAFE_INTEGER },
      arbitrary: () => (fc) => fc.integer({ min, max: 2 ** 31 }),
    }),
  );
