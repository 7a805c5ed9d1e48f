import type { Logger } from 'pino';
import type { StoredEvent } from '../../events/index.js';
import type { BalancesProjection } from '../../projections/balances.js';
import type { Config, Role } from '../config/settings.js';
import { UnavailableError } from '../core/ports.js';
import type { DecodeBody, Elections, ReplicationConfirmer } from '../core/ports.js';
import type { JournalReading, LedgerRecord } from '../journal/index.js';
import type { PartState } from '../http/index.js';
import type { RelayStatus } from '../kafka/relay.js';

export interface KafkaParts {
  readonly config: Config;
  readonly identity: LedgerRecord;
  readonly reading: JournalReading;
  readonly elections: Elections;
  readonly decode: DecodeBody;
  readonly logger: Logger;
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
  /** In words, for /readyz. */
  states(): readonly PartState[];
  stop(): Promise<void>;
}

export const openKafka = (_parts: KafkaParts): Promise<KafkaSide> =>
  Promise.resolve({
    confirmer: { confirmed: () => Promise.reject(new UnavailableError('replication_pending', 'not yet')) },
    committed: () => undefined,
    relay: () => [],
    states: () => [],
    stop: () => Promise.resolve(),
  });
