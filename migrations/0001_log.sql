-- The log: what happened, in order, for good. Everything else in this schema can be worked out again from it.

-- Rights are the role's, not the login's: every connection of the program switches to it, so even the tables' owner
-- can't change the past by accident. Roles belong to the whole cluster: another database may be making it right now.
do $$
begin
  if not exists (select from pg_roles where rolname = 'holdfast_writer') then
    create role holdfast_writer nologin;
  end if;
exception
  when duplicate_object or unique_violation then null;
end
$$;

do $$
begin
  set local role holdfast_writer;
  reset role;
exception
  when insufficient_privilege then
    begin
      execute format('grant holdfast_writer to %I', current_user);
    exception
      when unique_violation then null;
    end;
end
$$;

grant usage on schema holdfast to holdfast_writer;
grant select on holdfast.migrations to holdfast_writer;

create table holdfast.ledger (
  one boolean primary key default true check (one),
  id uuid not null,
  name text not null,
  partitions integer not null check (partitions between 1 and 1024),
  created_at timestamptz not null default clock_timestamp(),
  incarnation integer not null default 1 check (incarnation > 0),
  oldest_program integer not null,
  system_identifier bigint not null,
  timeline integer not null
);
comment on table holdfast.ledger is 'The one ledger that this database holds.';
comment on column holdfast.ledger.incarnation is 'Raised when an operator resumes after a restore: what carries a lower one is refused.';
comment on column holdfast.ledger.oldest_program is 'The oldest schema version whose program may work on this database.';
comment on column holdfast.ledger.system_identifier is 'The cluster that it was made in, for telling a restored copy from the original.';
grant select on holdfast.ledger to holdfast_writer;

-- One short row per partition, changed by every group: room on the page keeps the changes off the index.
create table holdfast.heads (
  partition integer primary key,
  position bigint not null check (position >= 0),
  hash bytea not null check (length(hash) = 32),
  last_event_ms bigint not null
) with (fillfactor = 10);
comment on table holdfast.heads is 'The last event of each partition. Its row lock orders the partition; positions come from here, not from a sequence.';
comment on column holdfast.heads.last_event_ms is 'Time of the last event, ms since 1970: time never goes back within a partition.';
grant select, update on holdfast.heads to holdfast_writer;

create table holdfast.events (
  partition integer not null,
  position bigint not null check (position > 0),
  hash bytea not null check (length(hash) = 32),
  body text not null,
  primary key (partition, position)
);
comment on table holdfast.events is 'The log. Read event_log: the same, taken apart.';
comment on column holdfast.events.body is 'The canonical JSON, byte for byte: text and not jsonb, for the hash is over these bytes.';
comment on column holdfast.events.hash is 'SHA-256 over the previous event''s hash and the body.';
grant select, insert on holdfast.events to holdfast_writer;

create function holdfast.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% of holdfast.% is refused: the log is append-only', lower(tg_op), tg_table_name
    using errcode = 'insufficient_privilege', hint = 'Correct a balance by an adjustment, which is an event of its own.';
end
$$;

create trigger events_append_only before update or delete on holdfast.events
  for each statement execute function holdfast.refuse_change();
create trigger events_no_truncate before truncate on holdfast.events
  for each statement execute function holdfast.refuse_change();
-- ALWAYS: also when session_replication_role is replica, which silences ordinary triggers.
alter table holdfast.events enable always trigger events_append_only;
alter table holdfast.events enable always trigger events_no_truncate;

-- What stands before "time" in a body is never the caller's, so the first match is the event's own time.
create function holdfast.event_ms(body text) returns bigint language sql immutable parallel safe as $$
  select (extract(epoch from substring(body from '"time":"([^"]{24})"')::timestamptz) * 1000)::bigint
$$;

-- Halving works since time never goes back within a partition; a column or an index for it would be a second copy.
create function holdfast.position_at(of_partition integer, at_ms bigint) returns bigint language plpgsql stable as $$
declare
  low bigint := 0;
  high bigint;
  middle bigint;
  middle_ms bigint;
begin
  select h.position into high from holdfast.heads h where h.partition = of_partition;
  while low < high loop
    middle := low + (high - low + 1) / 2;
    select holdfast.event_ms(e.body) into strict middle_ms
      from holdfast.events e where e.partition = of_partition and e.position = middle;
    if middle_ms <= at_ms then
      low := middle;
    else
      high := middle - 1;
    end if;
  end loop;
  return low;
end
$$;
comment on function holdfast.position_at is 'The last position of a partition whose event is not later than a time (ms since 1970); 0 when there is none.';

-- jsonb can't hold two things that JSON can: U+0000 and half a surrogate pair. Here (not in the log) both become U+FFFD.
create view holdfast.event_log as
  select
    e.partition,
    e.position,
    (j.body ->> 'time')::timestamptz as time,
    split_part(j.body ->> 'type', '.', 3) as event,
    j.body ->> 'tenant' as tenant,
    j.body ->> 'subject' as subject,
    j.body -> 'data' ->> 'reservation_id' as reservation_id,
    (j.body -> 'data' ->> 'amount')::bigint as amount,
    j.body -> 'data' ->> 'unit' as unit,
    j.body -> 'data' ->> 'model' as model,
    j.body -> 'data' as data,
    j.body ->> 'type' as type,
    (j.body ->> 'incarnation')::integer as incarnation,
    j.body ->> 'traceparent' as traceparent,
    encode(e.hash, 'hex') as hash
  from holdfast.events e
  cross join lateral (
    select regexp_replace(e.body, '\\u(0000|d[89a-f][0-9a-f]{2})', '\\ufffd', 'g')::jsonb as body
  ) j;
comment on view holdfast.event_log is
  'The log for people: select time, event, subject, amount from holdfast.event_log where tenant = ''acme'' order by partition, position.';
grant select on holdfast.event_log to holdfast_writer;
