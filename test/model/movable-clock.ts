/** Postgres's clock, moved forward in one database: what lies in time ahead of us happens at once, by the same SQL. */

/**
 * The program's statements name clock_timestamp() and statement_timestamp() without a schema. Where pg_catalog stands in
 * the search path, and not first, a function of the same name before it is found instead.
 */
export const movableClock = (database: string): string => `
  create schema test_clock;
  create table test_clock.ahead (by interval not null);
  insert into test_clock.ahead values ('0');
  create function test_clock.clock_timestamp() returns timestamptz language sql volatile
    as 'select pg_catalog.clock_timestamp() + by from test_clock.ahead';
  create function test_clock.statement_timestamp() returns timestamptz language sql volatile
    as 'select pg_catalog.statement_timestamp() + by from test_clock.ahead';
  grant usage on schema test_clock to public;
  grant select on test_clock.ahead to public;
  alter database ${database} set search_path = test_clock, pg_catalog;
  set search_path = test_clock, pg_catalog;`;

/** The moment, ms since 1970, as the program reads it. */
export const READ_CLOCK = 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms';

/** Moves the clock by $1 seconds. */
export const MOVE_CLOCK = 'update test_clock.ahead set by = by + make_interval(secs => $1)';
