-- Where the log stands now: what a decision looks at. Every row here can be worked out again from the events.

create table holdfast.accounts (
  account text collate "C" primary key,
  tenant text collate "C" not null,
  partition integer not null,
  unit text not null,
  scale smallint not null,
  overdraft_limit bigint not null,
  exempt boolean not null,
  available bigint not null,
  held bigint not null,
  used bigint not null,
  funded bigint not null,
  position bigint not null,
  metadata text,
  -- numeric: a sum of four 64-bit numbers may pass 64 bits on its way to 0.
  constraint accounts_balance check (available::numeric + held + used + funded = 0)
) with (fillfactor = 50);
comment on table holdfast.accounts is 'Accounts, with their four buckets in the unit''s smallest part (micro-dollars for USD at scale 6).';
comment on column holdfast.accounts.position is 'The last event that touched it.';
comment on column holdfast.accounts.metadata is 'The caller''s JSON, verbatim.';
create index accounts_by_partition on holdfast.accounts (partition, account);
grant select, insert, update on holdfast.accounts to holdfast_writer;

create table holdfast.postings (
  account text collate "C" not null,
  position bigint not null,
  partition integer not null,
  available bigint not null,
  held bigint not null,
  used bigint not null,
  funded bigint not null,
  primary key (account, position)
);
comment on table holdfast.postings is 'Each account''s trail: the events that concern it, and its buckets after each.';
grant select, insert on holdfast.postings to holdfast_writer;

create trigger postings_append_only before update or delete on holdfast.postings
  for each statement execute function holdfast.refuse_change();
create trigger postings_no_truncate before truncate on holdfast.postings
  for each statement execute function holdfast.refuse_change();
alter table holdfast.postings enable always trigger postings_append_only;
alter table holdfast.postings enable always trigger postings_no_truncate;

create table holdfast.reservations (
  tenant text collate "C" not null,
  id text collate "C" not null,
  partition integer not null,
  state text not null check (state in ('open', 'finalized', 'refunded')),
  opened boolean not null,
  accounts text[] collate "C" not null,
  units text[] not null,
  model text collate "C",
  expires_at_ms bigint not null,
  position bigint not null,
  closed_position bigint,
  closed_at_ms bigint,
  positions bigint[] not null,
  body text not null,
  primary key (tenant, id),
  constraint reservations_closed check ((state = 'open') = (closed_position is null) and (state = 'open') = (closed_at_ms is null))
);
comment on table holdfast.reservations is 'What is known of each reservation''s id, for ever: an id opens once and closes once.';
comment on column holdfast.reservations.opened is 'False when a finalize came with no reservation before it.';
comment on column holdfast.reservations.expires_at_ms is 'ms since 1970, on this server''s clock.';
comment on column holdfast.reservations.positions is 'Its events in its partition, in order.';
comment on column holdfast.reservations.body is 'The rest as JSON: amounts held and asked for, real cost, level, reason, the caller''s metadata.';
create index reservations_open on holdfast.reservations (partition, expires_at_ms) where state = 'open';
create index reservations_closed_at on holdfast.reservations (partition, closed_at_ms) where state <> 'open';
grant select, insert, update on holdfast.reservations to holdfast_writer;

create table holdfast.fundings (
  tenant text collate "C" not null,
  kind text not null check (kind in ('recharge', 'adjust')),
  id text collate "C" not null,
  account text collate "C" not null,
  amount bigint not null,
  reference text collate "C",
  reason text,
  position bigint not null,
  primary key (tenant, kind, id)
);
comment on table holdfast.fundings is 'Recharges and adjustments that were made: each id counts once.';
comment on column holdfast.fundings.reason is 'An adjustment''s reason as a JSON string, which can hold characters that text can''t.';
create unique index fundings_reference_once on holdfast.fundings (tenant, reference)
  where kind = 'recharge' and reference is not null;
grant select, insert on holdfast.fundings to holdfast_writer;

create table holdfast.max_costs (
  model text collate "C" not null,
  unit text collate "C" not null,
  amount bigint,
  revision integer not null default 0 check (revision >= 0),
  pending bigint,
  primary key (model, unit),
  constraint max_costs_known check ((revision = 0) = (amount is null))
) with (fillfactor = 50);
comment on table holdfast.max_costs is 'The most that a request to a model has cost or may cost. Revision 0: nothing is known yet, the row is there to be locked.';
comment on column holdfast.max_costs.pending is 'A higher cost that was charged and waits for an operator to allow it.';
grant select, insert, update on holdfast.max_costs to holdfast_writer;
