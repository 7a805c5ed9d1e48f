import type { EpochRegistry } from '../../src/core/ports.js';

interface Row {
  readonly runId: string;
  readonly replId: string;
  readonly epoch: number;
}

/** What Postgres does for epochs, in memory: tests of the Redis side alone need no journal. */
export class EpochsInMemory implements EpochRegistry {
  readonly rows = new Map<number, Row>();
  /** How often it was asked. */
  asked = 0;

  confirm(partitions: readonly number[], runId: string, replId: string): Promise<ReadonlyMap<number, number>> {
    this.asked++;
    for (const partition of partitions) {
      const known = this.rows.get(partition);
      if (known?.runId !== runId || known.replId !== replId)
        this.rows.set(partition, { runId, replId, epoch: (known?.epoch ?? 0) + 1 });
    }
    return Promise.resolve(new Map(partitions.map((p) => [p, this.rows.get(p)?.epoch ?? 0])));
  }

  raiseTo(partition: number, epoch: number): Promise<number> {
    const known = this.rows.get(partition);
    if (known === undefined) return Promise.reject(new Error('no such partition'));
    this.rows.set(partition, { ...known, epoch: Math.max(known.epoch, epoch) });
    return Promise.resolve(Math.max(known.epoch, epoch));
  }

  /** Another node raised it. */
  raise(partition: number): void {
    const known = this.rows.get(partition);
    if (known !== undefined) this.rows.set(partition, { ...known, epoch: known.epoch + 1 });
  }
}
