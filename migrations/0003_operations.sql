-- What the running program keeps here beside the log.

create table holdfast.redis_epochs (
  partition integer primary key,
  epoch bigint not null default 0 check (epoch >= 0),
  run_id text,
  repl_id text
) with (fillfactor = 50);
comment on table holdfast.redis_epochs is 'Which Redis server holds each partition. Another one, or one that started again, gets a higher epoch.';
grant select, update on holdfast.redis_epochs to holdfast_writer;

create table holdfast.api_keys (
  id text collate "C" primary key,
  secret_sha256 bytea not null check (length(secret_sha256) = 32),
  tenant text collate "C",
  scopes text[] not null,
  label text not null,
  created_at timestamptz not null default clock_timestamp(),
  revoked_at timestamptz
);
comment on table holdfast.api_keys is 'Bearer keys. The secret itself is shown once, when it is made, and kept nowhere.';
comment on column holdfast.api_keys.tenant is 'Null: for all tenants.';
grant select, insert, update on holdfast.api_keys to holdfast_writer;

-- A program that knows less of this schema than up to here can't work on it.
alter table holdfast.ledger alter column oldest_program set default 3;
