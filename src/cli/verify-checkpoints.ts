import type { CheckpointFinding, CheckpointsVerdict } from '../recovery/verify-checkpoints.js';
import { timeText } from './output.js';

const findingText = ({ checkpoint, where, partition, position, what }: CheckpointFinding): string =>
  [
    where === 'file' ? 'checkpoints' : where,
    ...(partition === undefined ? [] : [`partition ${partition.toString()}`]),
    ...(position === undefined ? [] : [`position ${position.toString()}`]),
    `checkpoint ${checkpoint.toString()}: ${what}`,
  ].join(', ');

/** What holding the log to its checkpoints found, in lines. */
export const checkpointsText = (verdict: CheckpointsVerdict): string => {
  const { checkpoints, places, count, findings, torn, lastMs } = verdict;
  return [
    ...findings.map(findingText),
    ...(torn === undefined
      ? []
      : [
          `the end of the file, ${torn.bytes.toString()} bytes from byte ${torn.at.toString()} on, is a checkpoint that was not written to its end: passed over`,
        ]),
    `${checkpoints.toString()} checkpoints, ${places.toString()} places of the log compared, ${count.toString()} contradictions` +
      (lastMs === undefined ? '' : `; nothing after ${timeText(lastMs)} is signed`),
  ].join('\n');
};
