-- Made from a migrated database; the test that compares it says how to renew it.

-- tables

accounts
  account text collate "C" not null
  tenant text collate "C" not null
  partition integer not null
  unit text not null
  scale smallint not null
  overdraft_limit bigint not null
  exempt boolean not null
  available bigint not null
  held bigint not null
  used bigint not null
  funded bigint not null
  position bigint not null
  metadata text
  with fillfactor=50
api_keys
  id text collate "C" not null
  secret_sha256 bytea not null
  tenant text collate "C"
  scopes text[] not null
  label text not null
  created_at timestamp with time zone not null default clock_timestamp()
  revoked_at timestamp with time zone
events
  partition integer not null
  position bigint not null
  hash bytea not null
  body text not null
fundings
  tenant text collate "C" not null
  kind text not null
  id text collate "C" not null
  account text collate "C" not null
  amount bigint not null
  reference text collate "C"
  reason text
  position bigint not null
heads
  partition integer not null
  position bigint not null
  hash bytea not null
  last_event_ms bigint not null
  with fillfactor=10
ledger
  one boolean not null default true
  id uuid not null
  name text not null
  partitions integer not null
  created_at timestamp with time zone not null default clock_timestamp()
  incarnation integer not null default 1
  oldest_program integer not null default 3
  system_identifier bigint not null
  timeline integer not null
max_costs
  model text collate "C" not null
  unit text collate "C" not null
  amount bigint
  revision integer not null default 0
  pending bigint
  with fillfactor=50
migrations
  number integer not null
  name text not null
  applied_at timestamp with time zone not null default clock_timestamp()
postings
  account text collate "C" not null
  position bigint not null
  partition integer not null
  available bigint not null
  held bigint not null
  used bigint not null
  funded bigint not null
redis_epochs
  partition integer not null
  epoch bigint not null default 0
  run_id text
  repl_id text
  with fillfactor=50
reservations
  tenant text collate "C" not null
  id text collate "C" not null
  partition integer not null
  state text not null
  opened boolean not null
  accounts text[] collate "C" not null
  units text[] not null
  model text collate "C"
  expires_at_ms bigint not null
  position bigint not null
  closed_position bigint
  closed_at_ms bigint
  positions bigint[] not null
  body text not null

-- constraints

accounts: accounts_balance CHECK ((((((available)::numeric + (held)::numeric) + (used)::numeric) + (funded)::numeric) = (0)::numeric))
accounts: accounts_pkey PRIMARY KEY (account)
api_keys: api_keys_pkey PRIMARY KEY (id)
api_keys: api_keys_secret_sha256_check CHECK ((length(secret_sha256) = 32))
events: events_hash_check CHECK ((length(hash) = 32))
events: events_pkey PRIMARY KEY (partition, "position")
events: events_position_check CHECK (("position" > 0))
fundings: fundings_kind_check CHECK ((kind = ANY (ARRAY['recharge'::text, 'adjust'::text])))
fundings: fundings_pkey PRIMARY KEY (tenant, kind, id)
heads: heads_hash_check CHECK ((length(hash) = 32))
heads: heads_pkey PRIMARY KEY (partition)
heads: heads_position_check CHECK (("position" >= 0))
ledger: ledger_incarnation_check CHECK ((incarnation > 0))
ledger: ledger_one_check CHECK (one)
ledger: ledger_partitions_check CHECK (((partitions >= 1) AND (partitions <= 1024)))
ledger: ledger_pkey PRIMARY KEY (one)
max_costs: max_costs_known CHECK (((revision = 0) = (amount IS NULL)))
max_costs: max_costs_pkey PRIMARY KEY (model, unit)
max_costs: max_costs_revision_check CHECK ((revision >= 0))
migrations: migrations_pkey PRIMARY KEY (number)
postings: postings_pkey PRIMARY KEY (account, "position")
redis_epochs: redis_epochs_epoch_check CHECK ((epoch >= 0))
redis_epochs: redis_epochs_pkey PRIMARY KEY (partition)
reservations: reservations_closed CHECK ((((state = 'open'::text) = (closed_position IS NULL)) AND ((state = 'open'::text) = (closed_at_ms IS NULL))))
reservations: reservations_pkey PRIMARY KEY (tenant, id)
reservations: reservations_state_check CHECK ((state = ANY (ARRAY['open'::text, 'finalized'::text, 'refunded'::text])))

-- indexes

CREATE INDEX accounts_by_partition ON holdfast.accounts USING btree (partition, account)
CREATE UNIQUE INDEX accounts_pkey ON holdfast.accounts USING btree (account)
CREATE UNIQUE INDEX api_keys_pkey ON holdfast.api_keys USING btree (id)
CREATE UNIQUE INDEX events_pkey ON holdfast.events USING btree (partition, "position")
CREATE UNIQUE INDEX fundings_pkey ON holdfast.fundings USING btree (tenant, kind, id)
CREATE UNIQUE INDEX fundings_reference_once ON holdfast.fundings USING btree (tenant, reference) WHERE ((kind = 'recharge'::text) AND (reference IS NOT NULL))
CREATE UNIQUE INDEX heads_pkey ON holdfast.heads USING btree (partition)
CREATE UNIQUE INDEX ledger_pkey ON holdfast.ledger USING btree (one)
CREATE UNIQUE INDEX max_costs_pkey ON holdfast.max_costs USING btree (model, unit)
CREATE UNIQUE INDEX migrations_pkey ON holdfast.migrations USING btree (number)
CREATE UNIQUE INDEX postings_pkey ON holdfast.postings USING btree (account, "position")
CREATE UNIQUE INDEX redis_epochs_pkey ON holdfast.redis_epochs USING btree (partition)
CREATE INDEX reservations_closed_at ON holdfast.reservations USING btree (partition, closed_at_ms) WHERE (state <> 'open'::text)
CREATE INDEX reservations_open ON holdfast.reservations USING btree (partition, expires_at_ms) WHERE (state = 'open'::text)
CREATE UNIQUE INDEX reservations_pkey ON holdfast.reservations USING btree (tenant, id)

-- triggers

CREATE TRIGGER events_append_only BEFORE DELETE OR UPDATE ON holdfast.events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change() (enabled: A)
CREATE TRIGGER events_no_truncate BEFORE TRUNCATE ON holdfast.events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change() (enabled: A)
CREATE TRIGGER postings_append_only BEFORE DELETE OR UPDATE ON holdfast.postings FOR EACH STATEMENT EXECUTE FUNCTION refuse_change() (enabled: A)
CREATE TRIGGER postings_no_truncate BEFORE TRUNCATE ON holdfast.postings FOR EACH STATEMENT EXECUTE FUNCTION refuse_change() (enabled: A)

-- views

event_log
 SELECT e.partition,
    e."position",
    ((j.body ->> 'time'::text))::timestamp with time zone AS "time",
    split_part((j.body ->> 'type'::text), '.'::text, 3) AS event,
    (j.body ->> 'tenant'::text) AS tenant,
    (j.body ->> 'subject'::text) AS subject,
    ((j.body -> 'data'::text) ->> 'reservation_id'::text) AS reservation_id,
    (((j.body -> 'data'::text) ->> 'amount'::text))::bigint AS amount,
    ((j.body -> 'data'::text) ->> 'unit'::text) AS unit,
    ((j.body -> 'data'::text) ->> 'model'::text) AS model,
    (j.body -> 'data'::text) AS data,
    (j.body ->> 'type'::text) AS type,
    ((j.body ->> 'incarnation'::text))::integer AS incarnation,
    (j.body ->> 'traceparent'::text) AS traceparent,
    encode(e.hash, 'hex'::text) AS hash
   FROM (events e
     CROSS JOIN LATERAL ( SELECT (regexp_replace(e.body, '\\u(0000|d[89a-f][0-9a-f]{2})'::text, '\\ufffd'::text, 'g'::text))::jsonb AS body) j);

-- functions

CREATE OR REPLACE FUNCTION holdfast.event_ms(body text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select (extract(epoch from substring(body from '"time":"([^"]{24})"')::timestamptz) * 1000)::bigint
$function$

CREATE OR REPLACE FUNCTION holdfast.position_at(of_partition integer, at_ms bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
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
$function$

CREATE OR REPLACE FUNCTION holdfast.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% of holdfast.% is refused: the log is append-only', lower(tg_op), tg_table_name
    using errcode = 'insufficient_privilege', hint = 'Correct a balance by an adjustment, which is an event of its own.';
end
$function$


-- rights of holdfast_writer

accounts: insert, select, update
api_keys: insert, select, update
event_log: select
events: insert, select
fundings: insert, select
heads: select, update
ledger: select
max_costs: insert, select, update
migrations: select
postings: insert, select
redis_epochs: select, update
reservations: insert, select, update
