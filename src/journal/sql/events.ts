import type { StoredEvent } from '../../../events/index.js';
import type { TrailRow } from '../../core/audit.js';
import { hashArray, int4Array, int8Array, textArray } from '../binary.js';
import { call, command } from '../statement.js';
import type { Call, Statement } from '../statement.js';

const appendEvents = command(
  'insert_events',
  `insert into holdfast.events (partition, position, hash, body)
    select * from unnest($1::int[], $2::bigint[], $3::bytea[], $4::text[])`,
);

/** Appends events to the log. */
export const insertEvents = (events: readonly StoredEvent[]): Call<never> =>
  call(
    appendEvents,
    int4Array(events.map((e) => e.event.partition)),
    int8Array(events.map((e) => e.event.position)),
    hashArray(events.map((e) => e.hash)),
    textArray(events.map((e) => e.body)),
  );

const appendPostings = command(
  'insert_postings',
  `insert into holdfast.postings (account, position, partition, available, held, used, funded)
    select * from unnest($1::text[], $2::bigint[], $3::int[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])`,
);

/** Appends steps to accounts' trails. */
export const insertPostings = (rows: readonly TrailRow[]): Call<never> =>
  call(
    appendPostings,
    textArray(rows.map((r) => r.account)),
    int8Array(rows.map((r) => r.position)),
    int4Array(rows.map((r) => r.partition)),
    int8Array(rows.map((r) => r.after.available)),
    int8Array(rows.map((r) => r.after.held)),
    int8Array(rows.map((r) => r.after.used)),
    int8Array(rows.map((r) => r.after.funded)),
  );

/** The hashes of given events; absent where there is none. */
export const readHashes: Statement<{ readonly partition: number; readonly position: number; readonly hash: string }> = {
  name: 'read_hashes',
  text: `select e.partition, e.position, e.hash from unnest($1::int[], $2::bigint[]) as k(partition, position)
    join holdfast.events e on e.partition = k.partition and e.position = k.position`,
  read: (row) => ({ partition: row.int(0), position: row.int(1), hash: row.hex(2) }),
};

export const EVENT_STATEMENTS: readonly Statement<unknown>[] = [appendEvents, appendPostings, readHashes];
