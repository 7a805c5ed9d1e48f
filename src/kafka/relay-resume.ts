import { reasonOf } from './errors.js';
import type { RelayContext, RelayParts } from './relay-context.js';
import type { RelayedPartition } from './relay-partition.js';
import { readTails } from './tail.js';
import type { Tail } from './tail.js';

/** What is wrong with Kafka's end of a partition; undefined when it is the journal's. Raises when the journal can't say. */
const judge = async (parts: RelayParts, { partition, last }: Tail): Promise<string | undefined> => {
  if (last === undefined) return undefined;
  const { position, hash, incarnation } = last;
  const own = parts.incarnation();
  if (incarnation > own)
    return `Kafka holds position ${position} of incarnation ${incarnation}, and this process has ${own}: it has been replaced`;
  const [stored] = await parts.reader.readSealed(partition, position - 1, 1);
  if (stored === undefined)
    return `Kafka holds position ${position}, and the journal ends before it: restore the journal from Kafka`;
  return stored.hash === hash
    ? undefined
    : `Kafka holds another event at position ${position} than the journal: a fork`;
};

/** Looks where Kafka's log ends, and whether that is the journal's: each partition then goes on from there, or stops. */
export const resumeFromKafka = async (context: RelayContext, lost: readonly RelayedPartition[]): Promise<void> => {
  const { parts, link, complaints, halt } = context;
  const held = lost.map((one) => ({ one, elected: one.elected }));
  for (const one of lost) one.busy = true;
  try {
    const numbers = lost.map(({ partition }) => partition);
    const before = new Map(
      lost.flatMap((one) => (one.searchBefore === undefined ? [] : [[one.partition, one.searchBefore]])),
    );
    const tails = await readTails(link, parts.ledger, numbers, before);
    for (const { one, elected } of held) {
      const tail = tails.get(one.partition);
      const why = tail === undefined ? 'Kafka has no such partition' : await judge(parts, tail);
      // Another may have been elected, or this one stopped, while Kafka and the journal were asked.
      if (one.elected !== elected || one.phase !== 'resuming') continue;
      if (why !== undefined) await halt(one, why);
      else if (tail !== undefined) one.resumeFrom(tail);
    }
    complaints.settled('resume');
  } catch (error) {
    complaints.say('resume', error);
    for (const one of lost) one.failed(reasonOf(error), performance.now());
  } finally {
    for (const one of lost) one.busy = false;
  }
};
