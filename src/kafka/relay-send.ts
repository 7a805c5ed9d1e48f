import type { SealedEvent } from '../../events/index.js';
import { KafkaError, reasonOf } from './errors.js';
import { outgoing } from './message.js';
import type { SendContext } from './relay-context.js';
import { BATCH_EVENTS_MAX } from './relay-partition.js';
import type { RelayedPartition } from './relay-partition.js';

/** Most bytes of one request, about: one batch more may be on top. */
const REQUEST_BYTES_MAX = 2_000_000;
const READS_AT_ONCE = 8;

type Batches = ReadonlyMap<RelayedPartition, readonly SealedEvent[]>;

/** Sends the next batch of each of these partitions, which one broker leads, in one request. Never raises. */
export const sendNext = async (
  context: SendContext,
  node: string,
  chosen: readonly RelayedPartition[],
): Promise<void> => {
  const { link, complaints } = context;
  for (const one of chosen) one.busy = true;
  try {
    const batches = await gather(context, chosen);
    if (batches.size === 0) return;
    const messages = new Map([...batches].map(([one, batch]) => [one.partition, batch.map(outgoing)]));
    try {
      const produced = await link.produce(node, messages);
      let settled = true;
      for (const [one, batch] of batches) {
        const outcome = produced.get(one.partition);
        if (typeof outcome === 'object') {
          settled = false;
          complaints.say('send', outcome);
          await failed(context, one, batch, outcome);
        } else landed(context, one, batch, outcome);
      }
      if (settled) complaints.settled('send');
    } catch (error) {
      complaints.say('send', error);
      for (const [one, batch] of batches) await failed(context, one, batch, error);
    }
  } finally {
    for (const one of chosen) one.busy = false;
  }
};

/** The next batch of each, from what was offered or from the journal, up to the size of a request. */
const gather = async (context: SendContext, chosen: readonly RelayedPartition[]): Promise<Batches> => {
  const batches = new Map<RelayedPartition, readonly SealedEvent[]>();
  let bytes = 0;
  for (let at = 0; at < chosen.length && bytes < REQUEST_BYTES_MAX; at += READS_AT_ONCE) {
    const some = chosen.slice(at, at + READS_AT_ONCE);
    await Promise.all(some.map((one) => fill(context, one)));
    for (const one of some) {
      if (one.end === undefined || bytes >= REQUEST_BYTES_MAX) continue;
      const batch = one.cut();
      if (batch === undefined)
        await context.halt(one, `the journal’s chain breaks behind position ${one.end.position}`);
      else if (batch.length > 0) batches.set(one, batch);
      for (const { body } of batch ?? []) bytes += body.length;
    }
  }
  return batches;
};

const fill = async ({ parts, complaints }: SendContext, one: RelayedPartition): Promise<void> => {
  const { end } = one;
  if (one.queued > 0 || end === undefined) return;
  try {
    const read = await parts.reader.readSealed(one.partition, end.position, BATCH_EVENTS_MAX);
    if (one.end !== end) return;
    one.fill(read);
    if (one.queued === 0) one.caughtUp();
  } catch (error) {
    complaints.say('read', error);
    one.failed(reasonOf(error), performance.now());
  }
};

const landed = (
  { parts }: SendContext,
  one: RelayedPartition,
  batch: readonly SealedEvent[],
  baseOffset: number | undefined,
): void => {
  // It lost its office, or was stopped, while this was under way: whoever comes next looks at Kafka first.
  if (one.end === undefined) return;
  const landing = baseOffset === undefined ? 'others_wrote' : one.sent(batch, baseOffset);
  if (landing === 'as_expected' && baseOffset !== undefined) return parts.onSent?.(one.partition, batch, baseOffset);
  if (landing === 'records_lost') {
    one.searchBefore = baseOffset;
    const said = 'Kafka has lost events that it had acknowledged; they are sent again';
    parts.log.error({ part: 'relay', partition: one.partition, offset: baseOffset }, said);
  }
  one.resume();
};

/** A batch that failed: it may stand on Kafka or not. */
const failed = async (
  { halt }: SendContext,
  one: RelayedPartition,
  batch: readonly SealedEvent[],
  error: unknown,
): Promise<void> => {
  if (error instanceof KafkaError && error.code === 'too_large') {
    if (batch.length === 1)
      return halt(one, `the event at position ${batch[0]?.event.position ?? 0} is larger than the topic takes`);
    one.shrink(batch);
    one.resume();
    return;
  }
  one.resume();
  one.failed(reasonOf(error), performance.now());
};
