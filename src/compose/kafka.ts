import type { Logger } from 'pino';
import type { StoredEvent } from '../../events/index.js';
import type { BalancesProjection } from '../../projections/balances.js';
import type { Config, Role } from '../config/settings.js';
import type { DecodeBody, Elections, ReplicationConfirmer } from '../core/ports.js';
import type { PartState } from '../http/index.js';
import type { JournalReading, LedgerRecord } from '../journal/index.js';
import { Follower, Relay, TopicRefusedError, ensureTopic } from '../kafka/index.js';
import type { FollowerStatus, RelayParts, RelayStatus } from '../kafka/index.js';
import type { LedgerMetrics } from '../metrics/index.js';
import type { CurrentIncarnation } from '../core/incarnation.js';
import { runPeriodically } from '../service/periodic.js';
import type { Periodic } from '../service/periodic.js';
import { kafkaSettings } from './options.js';
import { allPartitions } from '../core/partition.js';

export interface KafkaParts {
  readonly config: Config;
  readonly identity: LedgerRecord;
  readonly incarnation: CurrentIncarnation;
  readonly reading: JournalReading;
  readonly elections: Elections;
  readonly decode: DecodeBody;
  readonly logger: Logger;
  readonly metrics: LedgerMetrics;
  readonly projection: BalancesProjection;
  readonly roles: readonly Role[];
}

/** The Kafka side of a process. */
export interface KafkaSide {
  readonly confirmer: ReplicationConfirmer;
  /** Told of what this process commits. */
  committed(partition: number, events: readonly StoredEvent[]): void;
  /** How the relay of each partition is; empty when this process does not relay. */
  relay(): readonly RelayStatus[];
  /** The topic was found to lose events, or to be of another ledger's shape: an operator must mend it. */
  refused(): boolean;
  /** In words, for /readyz. */
  states(): readonly PartState[];
  stop(): Promise<void>;
}

/** Pause between two tries to see to the topic while Kafka is away, ms. */
const TOPIC_RETRY_MS = 2000;
/** How often the lag is told to the metrics, ms. */
const LAG_MS = 1000;

/**
 * Opens the Kafka side for the roles of this process; Kafka may be away. The follower starts with the first command that
 * needs it where no body does (the command line). Raises TopicRefusedError when the topic would lose events.
 */
export const openKafka = async (parts: KafkaParts): Promise<KafkaSide> => {
  const { config, identity, roles } = parts;
  const settings = kafkaSettings(config);
  const partitions = allPartitions(identity.partitions);
  const serves = roles.length > 0;
  const relay = roles.includes('relay')
    ? openRelay(parts, partitions, (partition, batch, baseOffset) => follower.sent(partition, batch, baseOffset))
    : undefined;
  const follower = new Follower({
    settings,
    log: parts.logger,
    ledger: identity.ledger,
    partitions,
    decode: parts.decode,
    reader: parts.reading.reader,
    confirmTimeoutMs: config.kafka.confirmTimeoutMs,
    ...(relay === undefined ? {} : { relayedTo: (partition) => relay.relayedTo(partition) }),
    ...(roles.includes('projector')
      ? {
          sink: (partition, run) => parts.projection.take(partition, run),
          reached: (partition) => parts.projection.reached(partition),
        }
      : {}),
  });
  // Nothing is sent to a topic that was not looked at: it might lose what it is given.
  const topic = serves ? await seeToTopic(parts, () => relay?.start()) : undefined;
  if (serves) follower.start();
  const lag = relay === undefined ? undefined : tellLag(relay, parts.metrics);
  return {
    confirmer: {
      confirmed: (partition, position, hash) => {
        follower.start();
        relay?.urge();
        return follower.confirmed(partition, position, hash);
      },
    },
    committed: (partition, events) => relay?.committed(partition, events),
    relay: () => relay?.status() ?? [],
    refused: () => topic?.refused() ?? false,
    states: () => [
      ...(topic === undefined ? [] : [topic.state()]),
      ...(relay === undefined ? [] : [relayState(relay.status())]),
      ...(serves ? [followerState(follower.status())] : []),
    ],
    stop: async () => {
      await lag?.stop();
      await topic?.stop();
      await relay?.stop();
      await follower.stop();
    },
  };
};

const openRelay = (
  parts: KafkaParts,
  partitions: readonly number[],
  onSent: NonNullable<RelayParts['onSent']>,
): Relay =>
  new Relay({
    onSent,
    settings: kafkaSettings(parts.config),
    log: parts.logger,
    ledger: parts.identity.ledger,
    partitions,
    incarnation: () => parts.incarnation.value,
    reader: parts.reading.reader,
    elections: parts.elections,
  });

interface TopicKeeper {
  state(): PartState;
  refused(): boolean;
  stop(): Promise<void>;
}

/** Creates or checks the topic now; while Kafka is away, again and again behind the program's back. */
const seeToTopic = async (parts: KafkaParts, onGood: () => void): Promise<TopicKeeper> => {
  let refused = false;
  const wish = { partitions: parts.identity.partitions, replicationFactor: parts.config.kafka.replicationFactor };
  let state: PartState = { name: 'topic', ok: false, state: 'not looked at yet' };
  const look = async (): Promise<void> => {
    await ensureTopic(kafkaSettings(parts.config), wish, parts.logger);
    if (!state.ok) onGood();
    refused = false;
    state = { name: 'topic', ok: true, state: `${parts.config.kafka.topic} is set up as it must be` };
  };
  const failed = (error: unknown): void => {
    const why = error instanceof Error ? error.message : String(error);
    refused = error instanceof TopicRefusedError;
    const words = refused
      ? 'the topic is not what it must be: nothing is sent to it'
      : 'the topic could not be looked at';
    if (state.state !== why) parts.logger.warn({ part: 'kafka', err: why }, words);
    state = { name: 'topic', ok: false, state: why };
  };
  let retry: Periodic | undefined;
  try {
    await look();
  } catch (error) {
    if (error instanceof TopicRefusedError) throw error;
    failed(error);
    const body = (): Promise<void> => (state.ok ? Promise.resolve() : look());
    retry = runPeriodically(body, { pauseMs: TOPIC_RETRY_MS, onError: failed });
  }
  return { state: () => state, refused: () => refused, stop: async () => retry?.stop() };
};

const tellLag = (relay: Relay, metrics: LedgerMetrics): Periodic =>
  runPeriodically(
    () => {
      for (const { partition, lagEvents, lagSeconds } of relay.status())
        if (lagEvents !== undefined) metrics.relayLag(partition, lagEvents, lagSeconds ?? 0);
      return Promise.resolve();
    },
    { pauseMs: LAG_MS, onError: () => undefined },
  );

const firstWhy = (statuses: readonly { readonly partition: number; readonly why?: string }[]): string => {
  const one = statuses.find((status) => status.why !== undefined);
  return one?.why === undefined ? '' : `; partition ${one.partition.toString()}: ${one.why}`;
};

const relayState = (statuses: readonly RelayStatus[]): PartState => {
  const behind = statuses.reduce((sum, { lagEvents }) => sum + (lagEvents ?? 0), 0);
  const relaying = statuses.filter(({ position }) => position !== undefined).length;
  return {
    name: 'relay',
    ok: statuses.every(({ why }) => why === undefined),
    state: `relays ${relaying.toString()} of ${statuses.length.toString()} partitions, ${behind.toString()} events behind${firstWhy(statuses)}`,
  };
};

const followerState = (statuses: readonly FollowerStatus[]): PartState => {
  const following = statuses.filter(({ phase }) => phase === 'following').length;
  return {
    name: 'follower',
    ok: following === statuses.length,
    state: `follows ${following.toString()} of ${statuses.length.toString()} partitions${firstWhy(statuses)}`,
  };
};
