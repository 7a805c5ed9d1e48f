/** A row as Postgres sends it in text form. */
export type Fields = readonly (string | null)[];

/** One element of an array in text form (quoted where it must be: also a text that reads NULL), and what ends it. */
const ARRAY_ITEM = /(?:"((?:[^"\\]|\\.)*)"|([^",{}\\]+))[,}]/gsy;

/**
 * Reads one row's columns by number, strictly: a NULL where none may be, or a text that is not of the type, raises an
 * Error that names statement and column. So a changed query can't hand on a wrong value quietly.
 */
export class Row {
  readonly #fields: Fields;
  readonly #statement: string;

  constructor(fields: Fields, statement: string) {
    this.#fields = fields;
    this.#statement = statement;
  }

  text(column: number): string {
    const value = this.#fields[column];
    if (typeof value === 'string') return value;
    throw this.#wrong(column, 'a value');
  }

  optionalText(column: number): string | undefined {
    const value = this.#fields[column];
    if (value === undefined) throw this.#wrong(column, 'a column');
    return value ?? undefined;
  }

  bigint(column: number): bigint {
    const value = this.text(column);
    if (!/^-?\d+$/.test(value)) throw this.#wrong(column, 'a whole number');
    return BigInt(value);
  }

  optionalBigint(column: number): bigint | undefined {
    return this.optionalText(column) === undefined ? undefined : this.bigint(column);
  }

  /** A whole number that a JavaScript number holds exactly: counts, positions, milliseconds. Never an amount. */
  int(column: number): number {
    const value = Number(this.text(column));
    if (!Number.isSafeInteger(value)) throw this.#wrong(column, 'a safe whole number');
    return value;
  }

  optionalInt(column: number): number | undefined {
    return this.optionalText(column) === undefined ? undefined : this.int(column);
  }

  bool(column: number): boolean {
    const value = this.text(column);
    if (value !== 't' && value !== 'f') throw this.#wrong(column, 'a boolean');
    return value === 't';
  }

  /** A bytea as lower-case hex. */
  hex(column: number): string {
    const value = this.text(column);
    if (!value.startsWith('\\x')) throw this.#wrong(column, 'bytes');
    return value.slice(2);
  }

  /** An array of whole numbers. */
  ints(column: number): number[] {
    const inner = this.text(column).slice(1, -1);
    if (inner === '') return [];
    return inner.split(',').map((part) => {
      const value = Number(part);
      if (part === '' || !Number.isSafeInteger(value)) throw this.#wrong(column, 'an array of whole numbers');
      return value;
    });
  }

  /** An array of texts, none of them NULL. */
  texts(column: number): string[] {
    const text = this.text(column);
    const items: string[] = [];
    ARRAY_ITEM.lastIndex = 1;
    while (ARRAY_ITEM.lastIndex < text.length - 1) {
      const [item, quoted, plain] = ARRAY_ITEM.exec(text) ?? [];
      if (item === undefined || plain === 'NULL') throw this.#wrong(column, 'an array of texts');
      items.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll(/\\(.)/gs, '$1'));
    }
    return items;
  }

  /** One of a closed list. */
  oneOf<T extends string>(column: number, values: readonly T[]): T {
    const text = this.text(column);
    const value = values.find((one) => one === text);
    if (value === undefined) throw this.#wrong(column, `one of ${values.join(', ')}`);
    return value;
  }

  #wrong(column: number, wanted: string): Error {
    return new Error(`Column ${column.toString()} of ${this.#statement} is not ${wanted}.`);
  }
}
