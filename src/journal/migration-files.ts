import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export interface Migration {
  /** 1, 2, 3 …: the schema's version once it has run. */
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

const FILE_PATTERN = /^(\d{4})_([a-z0-9_]+)\.sql$/;

/** The migrations of this release, in order. Raises an Error when a number is missing or there twice. */
export const loadMigrations = (): readonly Migration[] => {
  const folder = dirname(createRequire(import.meta.url).resolve('#migrations/0001_log.sql'));
  const files = readdirSync(folder).sort();
  const migrations: Migration[] = [];
  for (const file of files) {
    const [, number, name] = FILE_PATTERN.exec(file) ?? [];
    if (number === undefined || name === undefined) continue;
    const expected = migrations.length + 1;
    if (Number(number) !== expected) throw new Error(`Migration ${expected.toString()} is missing: found ${file}.`);
    migrations.push({ number: expected, name, sql: readFileSync(join(folder, file), 'utf8') });
  }
  return migrations;
};

/** The schema version that this program knows: the number of its last migration. */
export const PROGRAM_VERSION = loadMigrations().length;
