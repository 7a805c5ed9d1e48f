import type { AuditedHead, PostgresFacts } from '../core/doctor-facts.js';
import { readLedger } from './ledger.js';
import type { ClusterMark } from './ledger.js';
import type { PostgresOptions } from './options.js';
import { Session } from './session.js';
import { readHashes } from './sql/events.js';
import type { Statement } from './statement.js';

const IDLE_MS = 10_000;

const readMoment: Statement<{ readonly nowMs: number; readonly standby: boolean; readonly migrated: boolean }> = {
  name: 'inspect_moment',
  text: `select floor(extract(epoch from clock_timestamp()) * 1000)::bigint, pg_is_in_recovery(),
    to_regclass('holdfast.ledger') is not null`,
  read: (row) => ({ nowMs: row.int(0), standby: row.bool(1), migrated: row.bool(2) }),
};

const readVersion: Statement<number> = {
  name: 'inspect_version',
  text: 'select coalesce(max(number), 0) from holdfast.migrations',
  read: (row) => row.int(0),
};

const readAuditedHeads: Statement<AuditedHead> = {
  name: 'inspect_heads',
  text: `select h.partition, h.position, h.hash,
      (select e.hash from holdfast.events e where e.partition = h.partition and e.position = h.position),
      coalesce((select e.position from holdfast.events e where e.partition = h.partition order by e.position desc limit 1), 0)
    from holdfast.heads h order by h.partition`,
  read: (row) => {
    const eventHash = row.optionalText(3)?.slice(2);
    return {
      partition: row.int(0),
      position: row.int(1),
      hash: row.hex(2),
      ...(eventHash === undefined ? {} : { eventHash }),
      lastPosition: row.int(4),
    };
  },
};

/** Also when session_replication_role silences ordinary triggers. */
const readTriggersOff: Statement<string> = {
  name: 'inspect_triggers',
  text: `select k.name from (values ('events_append_only'), ('events_no_truncate'), ('postings_append_only'),
      ('postings_no_truncate')) as k(name)
    where not exists (select from pg_trigger t join pg_class c on c.oid = t.tgrelid
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'holdfast' and t.tgname = k.name and t.tgenabled = 'A') order by 1`,
  read: (row) => row.text(0),
};

/** What the writer's role needs on each table; on the log it must have no more. */
const readRightsWrong: Statement<string> = {
  name: 'inspect_rights',
  text: `with needed(relation, rights) as (values
      ('events', 'select insert'), ('postings', 'select insert'), ('heads', 'select update'), ('ledger', 'select'),
      ('accounts', 'select insert update'), ('reservations', 'select insert update'), ('fundings', 'select insert'),
      ('max_costs', 'select insert update'), ('redis_epochs', 'select update'), ('api_keys', 'select insert update')),
    asked as (
      select relation, each, each = any(string_to_array(rights, ' ')) as needs
      from needed cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate']) as each
      where to_regclass('holdfast.' || relation) is not null)
    select case when needs then 'holdfast_writer may not ' else 'holdfast_writer may ' end || each || ' holdfast.' || relation
    from asked where exists (select from pg_roles where rolname = 'holdfast_writer')
      and has_table_privilege('holdfast_writer', 'holdfast.' || relation, each) <> needs
      and (needs or relation in ('events', 'postings'))
    union all select 'the role holdfast_writer is missing'
    where not exists (select from pg_roles where rolname = 'holdfast_writer') order by 1`,
  read: (row) => row.text(0),
};

const markText = ({ systemIdentifier, timeline }: ClusterMark): string =>
  `${systemIdentifier.toString()}/${timeline.toString()}`;

/**
 * Looks at the database and changes nothing: also one that was never migrated, is of another release, or is a standby. Raises
 * SessionLostError when Postgres can't be reached.
 */
export const inspectPostgres = async (options: PostgresOptions): Promise<PostgresFacts> => {
  const session = await Session.open(options, { statements: [], idleInTransactionMs: IDLE_MS, asWriter: false });
  try {
    const askedMs = Date.now();
    const [moment] = await session.query(readMoment);
    const hostMs = (askedMs + Date.now()) / 2;
    if (moment === undefined) throw new Error('Postgres gave no answer.');
    const { nowMs, standby } = moment;
    const none = { nowMs, hostMs, standby, schemaVersion: 0, heads: [], triggersOff: [], rightsWrong: [] };
    if (!moment.migrated) return none;
    const [schemaVersion = 0] = await session.query(readVersion);
    // A standby has no WAL position of its own to tell its timeline by.
    const [ledger] = standby ? [] : await session.query(readLedger);
    return {
      ...none,
      schemaVersion,
      ...(ledger === undefined
        ? {}
        : { ledger: { ...ledger, storedMark: markText(ledger.created), presentMark: markText(ledger.present) } }),
      heads: await session.query(readAuditedHeads),
      triggersOff: await session.query(readTriggersOff),
      rightsWrong: await session.query(readRightsWrong),
    };
  } finally {
    await session.close();
  }
};

/** The hashes of given events, by `partition/position`; absent where there is none. Raises SessionLostError. */
export const inspectHashes = async (
  options: PostgresOptions,
  places: readonly { readonly partition: number; readonly position: number }[],
): Promise<ReadonlyMap<string, string>> => {
  const session = await Session.open(options, { statements: [], idleInTransactionMs: IDLE_MS, asWriter: false });
  try {
    const array = (numbers: readonly number[]): string => `{${numbers.join(',')}}`;
    const partitions = array(places.map((place) => place.partition));
    const found = await session.query(readHashes, [partitions, array(places.map((place) => place.position))]);
    return new Map(
      found.map(({ partition, position, hash }) => [`${partition.toString()}/${position.toString()}`, hash]),
    );
  } finally {
    await session.close();
  }
};
