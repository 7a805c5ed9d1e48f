/**
 * What can be wrong with Kafka, as far as anybody here treats it differently:
 * `unreachable`: no broker answers in time, or the connection broke. What was sent may have arrived.
 * `refused`: a broker answered no (authorization, authentication, a request that it does not take).
 * `topic_missing`: the topic does not exist (any more).
 * `out_of_range`: the offset asked for is not in the log: it was truncated, or the topic was made anew.
 * `unreadable`: a record batch that this client cannot read (a compression it does not have).
 * `too_large`: the topic does not take a batch of this size.
 * `closed`: this program closed the connection.
 */
export type KafkaErrorCode =
  'unreachable' | 'refused' | 'topic_missing' | 'out_of_range' | 'unreadable' | 'too_large' | 'closed';

/** Any failure of a call to Kafka. The message holds no credentials and nothing of what events say. */
export class KafkaError extends Error {
  override readonly name = 'KafkaError';
  constructor(
    readonly code: KafkaErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const PARTITION_FAULTS: ReadonlySet<KafkaErrorCode> = new Set(['out_of_range', 'unreadable', 'too_large']);

/** Whether it is one partition's own fault, which leaves the connection as good as it was. */
export const isPartitionFault = ({ code }: KafkaError): boolean => PARTITION_FAULTS.has(code);

/** The topic is set up so that events would be lost, or the log could not be read: nothing may start on it. */
export class TopicRefusedError extends Error {
  override readonly name = 'TopicRefusedError';
  constructor(
    readonly topic: string,
    /** Kafka's own name of the setting, or `partitions`. */
    readonly setting: string,
    readonly found: string,
    readonly wanted: string,
  ) {
    super(`Topic ${topic} has ${setting} = ${found}; a ledger needs ${wanted}.`);
  }
}

/** What an error says, in words; of anything else, its text. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
