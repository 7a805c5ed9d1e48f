import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readTrace, readTraceFile } from '../../../src/traces/index.js';
import type { TraceRequest } from '../../../src/traces/index.js';

const HEADER = 'TIMESTAMP,ContextTokens,GeneratedTokens';
const shared = (file: string): string => fileURLToPath(new URL(`../../../../shared/data/${file}`, import.meta.url));

const all = async (source: AsyncIterable<TraceRequest>): Promise<TraceRequest[]> => {
  const requests: TraceRequest[] = [];
  for await (const request of source) requests.push(request);
  return requests;
};
const read = (text: string): Promise<TraceRequest[]> => all(readTrace(Readable.from([text]), 'trace.csv'));

describe('a trace file', () => {
  test('gives each request, with the time since the first', async () => {
    const text = `${HEADER}\r\n2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:50.9951690,396,109`;
    const [first, second, ...none] = await read(text);
    expect(first).toEqual({ offsetMs: 0, inputTokens: 374, outputTokens: 44 });
    expect(second).toMatchObject({ inputTokens: 396, outputTokens: 109 });
    expect(second?.offsetMs).toBeCloseTo(4_314.579, 2);
    expect(none).toEqual([]);
  });

  test('may have its times in another zone, its columns in another order, and more of them', async () => {
    const text =
      '\ufeffmodel,GeneratedTokens,ContextTokens,TIMESTAMP\nx,1,2,2024-05-10 00:00:00.009930+00:00\nx,3,4,2024-05-10T02:00:01+02:00\n';
    const [first, second] = await read(text);
    expect(first).toEqual({ offsetMs: 0, inputTokens: 2, outputTokens: 1 });
    expect(second?.offsetMs).toBeCloseTo(990.07, 2);
  });

  test.each([
    [
      'a token count that is none',
      `${HEADER}\n2023-11-16 18:15:46,374,44\n2023-11-16 18:15:47,37.4,44\n`,
      /trace\.csv:3: ContextTokens "37\.4"/,
    ],
    ['a time that is none', `${HEADER}\nyesterday,374,44\n`, /trace\.csv:2: TIMESTAMP "yesterday"/],
    ['a row cut short', `${HEADER}\n2023-11-16 18:15:46,374,44\n2023-11-16 18:1`, /trace\.csv:3/],
    ['a missing column', 'TIMESTAMP,ContextTokens\n2023-11-16 18:15:46,374\n', /no column GeneratedTokens/],
    ['no rows', `${HEADER}\n`, /holds no request/],
    ['nothing', '', /holds no request/],
    ['a file of another kind', 'x'.repeat(100_000), /trace\.csv/],
  ])('is refused for %s, naming the place', async (_what, text, message) => {
    await expect(read(text)).rejects.toThrow(message);
    await expect(read(text)).rejects.toHaveProperty('name', 'TraceError');
  });

  test('that is not there is named', async () => {
    await expect(all(readTraceFile('/nowhere/trace.csv'))).rejects.toThrow(/nowhere\/trace\.csv/);
  });

  test('without an end is read a row at a time', async () => {
    let made = 0;
    const endless = (function* () {
      yield `${HEADER}\n`;
      for (;;) {
        made += 1;
        yield `2023-11-16 18:15:46,${made},1\n`;
      }
    })();
    let taken = 0;
    for await (const request of readTrace(Readable.from(endless), 'endless')) {
      expect(request.inputTokens).toBe(++taken);
      if (taken === 1_000) break;
    }
    expect(made).toBeLessThan(20_000);
  });

  // Skipped without ../shared/data: the published traces are not part of this repository.
  test.skipIf(!existsSync(shared('.'))).each([
    ['azure-llm-2023-conv.csv', 19_366, 22_361_870, 4_088_665],
    ['azure-llm-2023-code.csv', 8_819, 18_059_974, 245_896],
  ])('as published, %s (needs ../shared/data)', async (file, requests, input, output) => {
    const trace = await all(readTraceFile(shared(file)));
    expect(trace).toHaveLength(requests);
    expect(trace.reduce((sum, r) => sum + r.inputTokens, 0)).toBe(input);
    expect(trace.reduce((sum, r) => sum + r.outputTokens, 0)).toBe(output);
    expect(trace.every((r, i) => r.offsetMs >= (trace[i - 1]?.offsetMs ?? 0))).toBe(true);
  });
});
