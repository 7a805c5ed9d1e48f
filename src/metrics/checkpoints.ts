import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

/** What signing checkpoints measures. */
export interface CheckpointMetrics {
  /** One was signed and is where it belongs. `timeMs` is the journal's, ms since 1970. */
  signed(timeMs: number): void;
  /** The log contradicts what was signed: nothing is signed any more. */
  refused(): void;
}

/** Adds them to a registry. */
export const checkpointMetrics = (registry: Registry): CheckpointMetrics => {
  const registers = [registry];
  const count = new Counter({
    name: 'holdfast_checkpoints_signed_total',
    help: 'Checkpoints that were signed and are in file and topic.',
    registers,
  });
  const time = new Gauge({
    name: 'holdfast_checkpoint_last_timestamp_seconds',
    help: 'Time of the last checkpoint that this process signed.',
    registers,
  });
  const refused = new Gauge({
    name: 'holdfast_checkpoint_refused',
    help: '1 when the log contradicts what was signed: nothing is signed any more.',
    registers,
  });
  return {
    signed: (timeMs) => {
      count.inc();
      time.set(timeMs / 1000);
    },
    refused: () => refused.set(1),
  };
};
