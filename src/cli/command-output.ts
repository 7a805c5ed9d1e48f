/** Where a command writes, so that a test can read it. */
export interface CommandOutput {
  /** What a shell or a program reads. */
  out(text: string): void;
  /** What a person reads: progress, and what went wrong. */
  readonly messages: { write(text: string): unknown; readonly isTTY?: boolean };
}

export const processOutput: CommandOutput = {
  out: (text) => {
    process.stdout.write(text);
  },
  messages: process.stderr,
};
