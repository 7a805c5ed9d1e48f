/** Telling what goes on: a bar on a terminal, plain lines elsewhere. */
import { Presets, SingleBar } from 'cli-progress';

/** A stretch of work of a known size. */
export interface ProgressTask {
  /** How much is done so far, and on what. */
  advance(done: number, detail: string): void;
  end(): void;
}

export interface Progress {
  say(line: string): void;
  task(label: string, total: number): ProgressTask;
}

export const silentProgress: Progress = {
  say: () => undefined,
  task: () => ({ advance: () => undefined, end: () => undefined }),
};

/** What progress is written to: a terminal's stream, a pipe, or a test's collector. */
export interface ProgressStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

function barTask(label: string, total: number): ProgressTask {
  const bar = new SingleBar(
    { format: `${label} [{bar}] {value}/{total} {detail}`, barsize: 24, clearOnComplete: true, gracefulExit: false },
    Presets.shades_classic,
  );
  bar.start(total, 0, { detail: '' });
  return {
    advance: (done, detail) => bar.update(Math.min(done, total), { detail }),
    end: () => bar.stop(),
  };
}

function lineTask(label: string, total: number, say: (line: string) => void): ProgressTask {
  const step = Math.max(1, Math.ceil(total / 4));
  let shown = 0;
  say(`${label} …`);
  return {
    advance: (done) => {
      if (done < shown + step || done > total) return;
      shown = done;
      say(`${label}: ${done} of ${total}`);
    },
    end: () => say(`${label}: done`),
  };
}

/** Progress for people on stderr, or for whatever reads the stream: bars only where the stream is a terminal. */
export function streamProgress(stream: ProgressStream): Progress {
  const drawn = stream === process.stderr && stream.isTTY === true;
  // A bar may stand on the current line: it draws itself again below.
  const say = (line: string): void => {
    stream.write(drawn ? `\r\u001b[K${line}\n` : `${line}\n`);
  };
  return { say, task: (label, total) => (drawn ? barTask(label, total) : lineTask(label, total, say)) };
}
