import type { SealedEvent } from '../../events/index.js';
import type { Elections, JournalReader, SealedReader } from '../core/ports.js';
import type { KafkaLog, KafkaSettings } from './client.js';
import type { Complaints } from './complaints.js';
import type { KafkaLink } from './link.js';
import type { RelayedPartition } from './relay-partition.js';

export interface RelayParts {
  readonly settings: KafkaSettings;
  readonly log: KafkaLog;
  readonly ledger: string;
  readonly partitions: readonly number[];
  /** The ledger's incarnation as this process knows it: a relay that finds a higher one on Kafka has been replaced. */
  readonly incarnation: () => number;
  readonly reader: Pick<JournalReader, 'heads'> & SealedReader;
  readonly elections: Elections;
  /** Told of each batch that Kafka has acknowledged just behind what it had, its first record at `baseOffset`. Must not raise. */
  readonly onSent?: (partition: number, batch: readonly SealedEvent[], baseOffset: number) => void;
  /** How often a partition that another process relays is tried for, ms. Default 2,000. */
  readonly electionIntervalMs?: number;
}

/** What sending needs of the relay. */
export interface SendContext {
  readonly parts: Pick<RelayParts, 'log' | 'reader' | 'onSent'>;
  readonly link: Pick<KafkaLink, 'produce'>;
  readonly complaints: Complaints;
  /** Stops one partition, loudly, and gives its office back. */
  readonly halt: (one: RelayedPartition, why: string) => Promise<void>;
}

/** What the steps of the relay share. */
export interface RelayContext extends SendContext {
  readonly parts: RelayParts;
  readonly link: KafkaLink;
}
