/** Kafka: the copy of the log that everybody else reads, and that outlives the loss of Postgres. */
export { KafkaCheckpointTopic, checkpointTopicName, type CheckpointTopicParts } from './checkpoint-topic.js';
export type { KafkaLog, KafkaSettings } from './client.js';
export { KafkaError, TopicRefusedError, type KafkaErrorCode } from './errors.js';
export { Follower, type FollowerParts, type FollowerStatus } from './follower.js';
export { KafkaLink } from './link.js';
export { CONTENT_TYPE, type LogMessage } from './message.js';
export { readTopic, type PartitionRead, type TopicReading } from './read-topic.js';
export { Relay, type RelayParts, type RelayPhase, type RelayStatus } from './relay.js';
export { kafkaWitness, readTails, type Tail } from './tail.js';
export { ensureTopic, type TopicWish } from './topic.js';
export { FollowedPartition, type Verdict } from './followed-partition.js';
export { ledgersOn } from './ledgers.js';
export { LogSender, type LogSenderParts, type SendFrom } from './log-sender.js';
