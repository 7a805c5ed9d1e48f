import type { CheckpointSource, HeadsMoment, LogPlace } from '../core/checkpoints.js';
import { int4Array, int8Array } from './binary.js';
import { LedgerMismatchError } from './errors.js';
import type { Sessions } from './sessions.js';
import { readHashesAt, readHeadsMoment } from './sql/checkpoints.js';
import { call } from './statement.js';
import type { Call, Statement } from './statement.js';

const at = <R>(statement: Statement<R>, places: readonly LogPlace[]): Call<R> =>
  call(statement, int4Array(places.map((p) => p.partition)), int8Array(places.map((p) => p.position)));

/** What checkpoints need of the journal. Raises UnavailableError when Postgres can't be asked. */
export class PostgresCheckpoints implements CheckpointSource {
  readonly #sessions: Sessions;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  async headsWith(places: readonly LogPlace[]): Promise<HeadsMoment> {
    const [rows] = await this.#sessions.read((session) => session.run(at(readHeadsMoment, places)));
    const [first] = rows;
    if (first === undefined) throw new LedgerMismatchError('The database has no ledger any more.');
    return { incarnation: first.incarnation, nowMs: first.nowMs, heads: rows.map(({ head }) => head) };
  }

  async hashesAt(places: readonly LogPlace[]): Promise<readonly (string | undefined)[]> {
    const [hashes] = await this.#sessions.read((session) => session.run(at(readHashesAt, places)));
    return hashes;
  }
}
