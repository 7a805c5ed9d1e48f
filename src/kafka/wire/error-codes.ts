import { KafkaError } from '../errors.js';
import type { KafkaErrorCode } from '../errors.js';

/** Errors that brokers give by name, as far as they are treated differently; whatever else a broker says counts as `unreachable`. */
export const CODE_BY_ERROR_NAME: ReadonlyMap<unknown, KafkaErrorCode> = new Map<string, KafkaErrorCode>([
  ['UNKNOWN_TOPIC_OR_PARTITION', 'topic_missing'],
  ['OFFSET_OUT_OF_RANGE', 'out_of_range'],
  ['MESSAGE_TOO_LARGE', 'too_large'],
  ['RECORD_LIST_TOO_LARGE', 'too_large'],
  ['TOPIC_AUTHORIZATION_FAILED', 'refused'],
  ['CLUSTER_AUTHORIZATION_FAILED', 'refused'],
  ['SASL_AUTHENTICATION_FAILED', 'refused'],
  ['UNSUPPORTED_SASL_MECHANISM', 'refused'],
  ['UNSUPPORTED_COMPRESSION_TYPE', 'unreadable'],
]);

/** What brokers answer to Produce and Fetch, by the protocol's numbers: its name, and what that means. */
const ERRORS: ReadonlyMap<number, readonly [name: string, words: string]> = new Map([
  [-1, ['UNKNOWN', 'the broker met an error that it does not name']],
  [1, ['OFFSET_OUT_OF_RANGE', 'the log does not hold the offset asked for']],
  [2, ['CORRUPT_MESSAGE', 'a record is damaged']],
  [3, ['UNKNOWN_TOPIC_OR_PARTITION', 'the broker does not have this topic or partition']],
  [5, ['LEADER_NOT_AVAILABLE', 'the partition has no leader just now']],
  [6, ['NOT_LEADER_FOR_PARTITION', 'the broker does not lead the partition any more']],
  [7, ['REQUEST_TIMED_OUT', 'the broker could not do it in time']],
  [9, ['REPLICA_NOT_AVAILABLE', 'the replica is not available']],
  [10, ['MESSAGE_TOO_LARGE', 'a batch is larger than the topic takes']],
  [13, ['NETWORK_EXCEPTION', 'the broker was cut off before it answered']],
  [17, ['INVALID_TOPIC_EXCEPTION', 'no topic can have this name']],
  [18, ['RECORD_LIST_TOO_LARGE', 'a batch is larger than a segment of the log']],
  [19, ['NOT_ENOUGH_REPLICAS', 'too few replicas are in sync']],
  [20, ['NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'too few replicas were in sync once it was written']],
  [21, ['INVALID_REQUIRED_ACKS', 'the broker can’t acknowledge as asked']],
  [29, ['TOPIC_AUTHORIZATION_FAILED', 'this user may not use the topic']],
  [31, ['CLUSTER_AUTHORIZATION_FAILED', 'this user may not do that']],
  [32, ['INVALID_TIMESTAMP', 'the topic does not take a record of this time']],
  [33, ['UNSUPPORTED_SASL_MECHANISM', 'the broker does not have this way to log in']],
  [35, ['UNSUPPORTED_VERSION', 'the broker does not speak this version']],
  [42, ['INVALID_REQUEST', 'the broker can’t read the request']],
  [43, ['UNSUPPORTED_FOR_MESSAGE_FORMAT', 'the topic’s format is too old']],
  [44, ['POLICY_VIOLATION', 'a policy of the broker forbids it']],
  [56, ['KAFKA_STORAGE_ERROR', 'the broker can’t use its disk']],
  [58, ['SASL_AUTHENTICATION_FAILED', 'the broker does not let this user in']],
  [70, ['FETCH_SESSION_ID_NOT_FOUND', 'the broker has forgotten the session']],
  [71, ['INVALID_FETCH_SESSION_EPOCH', 'the session is out of step']],
  [74, ['FENCED_LEADER_EPOCH', 'the partition has a newer leader']],
  [75, ['UNKNOWN_LEADER_EPOCH', 'the broker has not heard of the partition’s leader']],
  [76, ['UNSUPPORTED_COMPRESSION_TYPE', 'the log is in a compression that this version of the request can’t bring']],
  [78, ['OFFSET_NOT_AVAILABLE', 'a new leader does not know yet how far the log goes']],
  [87, ['INVALID_RECORD', 'the topic does not take a record of this form']],
]);

/** The error that a broker gave by number for a request or one of its partitions. */
export const errorOfNumber = (number: number): KafkaError => {
  const [name, words] = ERRORS.get(number) ?? [`error ${number}`, 'the broker refused'];
  return new KafkaError(CODE_BY_ERROR_NAME.get(name) ?? 'unreachable', `Kafka: ${words} (${name}).`);
};
