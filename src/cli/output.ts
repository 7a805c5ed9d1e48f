import Table from 'cli-table3';

/** Writes what people read, with a line break behind it, to stdout. */
export const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Amounts are bigint in the program and decimal strings on every wire. */
const plain = (_key: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return value.toString();
  return value instanceof Map ? Object.fromEntries(value) : value;
};

/** Writes JSON for machines, over several lines. */
export const printJson = (value: unknown): void => print(JSON.stringify(value, plain, 2));

/** Writes JSON for machines on one line: one of many (NDJSON). */
export const printLine = (value: unknown): void => print(JSON.stringify(value, plain));

/** A table as text. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const made = new Table({ head: [...head], style: { head: [], border: [] } });
  for (const row of rows) made.push([...row]);
  return made.toString();
};

/** Milliseconds since 1970 as RFC 3339 in UTC. */
export const timeText = (ms: number): string => new Date(ms).toISOString();

/** An amount in the unit's smallest part with its decimal point: 650 at scale 6 is 0.000650. */
export const withPoint = (amount: bigint, scale: number): string => {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(scale + 1, '0');
  const sign = amount < 0n ? '-' : '';
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
};
