import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { TraceError } from './request.js';
import type { TraceRequest } from './request.js';

const COLUMNS = ['TIMESTAMP', 'ContextTokens', 'GeneratedTokens'] as const;
type Row = Readonly<Partial<Record<(typeof COLUMNS)[number], string>>>;

/** A line of such a file has about 40 characters: this bounds what a file of another kind can take. */
const RECORD_SIZE_MAX = 4096;

const TIME_PATTERN = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/;
const COUNT_PATTERN = /^\d{1,9}$/;

/** Milliseconds since 1970, with their fraction; a time without a zone is taken for UTC. */
const parseTime = (text: string): number | undefined => {
  const match = TIME_PATTERN.exec(text);
  if (match === null) return undefined;
  const [, date = '', time = '', fraction = '.0', zone = 'Z'] = match;
  const wholeMs = Date.parse(`${date}T${time}${zone}`);
  return Number.isNaN(wholeMs) ? undefined : wholeMs + Number(`0${fraction}`) * 1_000;
};

const parseCount = (text: string): number | undefined => (COUNT_PATTERN.test(text) ? Number(text) : undefined);

const required = <T>(row: Row, column: keyof Row, where: string, read: (text: string) => T | undefined): T => {
  const text = row[column] ?? '';
  const value = read(text);
  if (value === undefined) throw new TraceError(`${where}: ${column} "${text.slice(0, 60)}" can't be read.`);
  return value;
};

const checkHeader = (name: string) => (header: readonly string[]) => {
  const missing = COLUMNS.filter((column) => !header.includes(column));
  if (missing.length > 0)
    throw new TraceError(`${name} has no column ${missing.join(', ')}; a trace has ${COLUMNS.join(',')}.`);
  return [...header];
};

const asTraceError = (error: unknown, name: string): TraceError => {
  if (error instanceof TraceError) return error;
  const why = error instanceof Error ? error.message : String(error);
  const line = error instanceof CsvError && typeof error['lines'] === 'number' ? `:${error['lines']}` : '';
  return new TraceError(`Cannot read ${name}${line}: ${why}`, { cause: error });
};

/**
 * Reads a trace in the format of the Azure LLM inference traces (`TIMESTAMP,ContextTokens,GeneratedTokens`), a row at a
 * time: memory stays flat however long the file is. `name` is what messages call it.
 * @throws TraceError, naming the line, for what is no such file.
 */
export async function* readTrace(source: Readable, name: string): AsyncGenerator<TraceRequest> {
  const parser = parse({
    columns: checkHeader(name),
    bom: true,
    trim: true,
    info: true,
    max_record_size: RECORD_SIZE_MAX,
  });
  // The callback only keeps the failure from going unhandled: it also ends the iteration below, which raises it.
  pipeline(source, parser, () => undefined);
  let firstMs: number | undefined;
  try {
    for await (const entry of parser) {
      const { record, info } = entry as { record: Row; info: { lines: number } };
      const where = `${name}:${info.lines}`;
      const timeMs = required(record, 'TIMESTAMP', where, parseTime);
      firstMs ??= timeMs;
      yield {
        offsetMs: timeMs - firstMs,
        inputTokens: required(record, 'ContextTokens', where, parseCount),
        outputTokens: required(record, 'GeneratedTokens', where, parseCount),
      };
    }
  } catch (error) {
    throw asTraceError(error, name);
  }
  if (firstMs === undefined) throw new TraceError(`${name} holds no request.`);
}

/** Reads a trace file from disk; see readTrace. The file is opened when the first request is asked for. */
export async function* readTraceFile(file: string): AsyncGenerator<TraceRequest> {
  yield* readTrace(createReadStream(file), file);
}
