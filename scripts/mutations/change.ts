/** A change of one place in one file, made on purpose to see a test fail. */
export interface Change {
  /** In a few words. */
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly change: (text: string) => string;
}

/** Replaces a text that stands in a file exactly once. Raises an Error when it does not: the change has lost its place. */
export const replacing =
  (before: string, after: string) =>
  (text: string): string => {
    if (text.split(before).length !== 2) throw new Error(`This does not stand there exactly once: ${before}`);
    return text.replace(before, () => after);
  };
