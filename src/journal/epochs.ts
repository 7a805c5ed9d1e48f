import type { EpochRegistry } from '../core/ports.js';
import { int4Array } from './binary.js';
import type { Sessions } from './sessions.js';
import { begin, commit, rollback } from './sql/heads.js';
import { call, command } from './statement.js';
import type { Statement } from './statement.js';

interface EpochRow {
  readonly partition: number;
  readonly epoch: number;
  readonly runId: string | undefined;
  readonly replId: string | undefined;
}

const select = (name: string, suffix: string): Statement<EpochRow> => ({
  name,
  text: `select partition, epoch, run_id, repl_id from holdfast.redis_epochs
    where partition = any($1::int[]) order by partition ${suffix}`,
  read: (row) => ({
    partition: row.int(0),
    epoch: row.int(1),
    runId: row.optionalText(2),
    replId: row.optionalText(3),
  }),
});

const readEpochs = select('read_epochs', '');
const lockEpochs = select('lock_epochs', 'for update');
const raiseEpochs = command(
  'raise_epochs',
  `update holdfast.redis_epochs set epoch = epoch + 1, run_id = $2::text, repl_id = $3::text
    where partition = any($1::int[]) and (run_id, repl_id) is distinct from ($2::text, $3::text)`,
);

const raiseTo: Statement<number> = {
  name: 'raise_epoch_to',
  text: `update holdfast.redis_epochs set epoch = greatest(epoch, $2::bigint) where partition = $1::int returning epoch`,
  read: (row) => row.int(0),
};

export const EPOCH_STATEMENTS: readonly Statement<unknown>[] = [readEpochs, lockEpochs, raiseEpochs, raiseTo];

/** Which Redis server holds each partition, as Postgres remembers it (design, section 3). */
export class PostgresEpochs implements EpochRegistry {
  readonly #sessions: Sessions;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  /** See the port. Usually a plain read; only a difference takes locks, in the order of the partitions. */
  async confirm(partitions: readonly number[], runId: string, replId: string): Promise<ReadonlyMap<number, number>> {
    const keys = int4Array(partitions);
    // Doing it twice is doing it once: the second time the ids agree.
    return this.#sessions.read(async (session) => {
      const [known] = await session.run(call(readEpochs, keys));
      if (known.every((row) => row.runId === runId && row.replId === replId)) return epochsOf(known);
      try {
        const [, , , raised] = await session.run(
          call(begin),
          call(lockEpochs, keys),
          call(raiseEpochs, keys, runId, replId),
          call(readEpochs, keys),
          call(commit),
        );
        return epochsOf(raised);
      } catch (error) {
        await session.run(call(rollback)).catch(() => session.destroy());
        throw error;
      }
    });
  }

  /** See the port. */
  async raiseTo(partition: number, epoch: number): Promise<number> {
    const [[present]] = await this.#sessions.read((session) =>
      session.run(call(raiseTo, partition.toString(), epoch.toString())),
    );
    if (present === undefined) throw new Error(`Partition ${partition.toString()} has no epoch.`);
    return present;
  }
}

const epochsOf = (rows: readonly EpochRow[]): ReadonlyMap<number, number> =>
  new Map(rows.map((row) => [row.partition, row.epoch]));
