import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { chainHash, genesisHash, messageOf, openMessage, splitMessage } from '../../events/index.js';
import { EXAMPLE_LEDGER, EXAMPLE_PARTITION, exampleChain } from '../../scripts/schemas/examples.js';
import { compileDecodeBody } from '../../src/validation/decode-body.js';

/** Written once, never again: if a change makes this file differ, logs that exist no longer verify. */
const GOLDEN = new URL('golden/chain.jsonl', import.meta.url);
const golden = readFileSync(GOLDEN, 'utf8').trimEnd().split('\n');

describe('the canonical form', () => {
  test('is the one that the golden file fixed, byte by byte', () => {
    expect(exampleChain().map(messageOf)).toEqual(golden);
  });

  test('comes apart again, each event chained to the one before', () => {
    const decode = compileDecodeBody();
    let prevHash = genesisHash(EXAMPLE_LEDGER, EXAMPLE_PARTITION);
    for (const [index, value] of golden.entries()) {
      const split = splitMessage(value);
      if (split === undefined) throw new Error('not a message');
      expect(split.prevHash).toBe(prevHash);
      expect(chainHash(prevHash, split.body)).toBe(split.hash);
      expect(openMessage(Buffer.from(value))).toEqual({ ...split, intact: true });
      expect(decode(split.body).position).toBe(index + 1);
      prevHash = split.hash;
    }
  });

  const whole = golden[0] ?? '';
  test.each([
    '',
    '{}',
    '{"a":1}',
    whole.slice(0, -1),
    `${whole}\n`,
    whole.slice(-152),
    whole.replace('"hash"', '"HASH"'),
  ])('%j is no message', (value) => {
    expect(splitMessage(value)).toBeUndefined();
    expect(openMessage(Buffer.from(value))).toBeUndefined();
  });

  test('is not intact, or no message, once any byte of it is another; read from bytes as from text', () => {
    for (let at = 0; at < whole.length; at++)
      for (const other of ['0', 'f', 'F', '~', '"']) {
        const changed = `${whole.slice(0, at)}${other}${whole.slice(at + 1)}`;
        if (changed === whole) continue;
        const split = splitMessage(changed);
        const opened = openMessage(Buffer.from(changed));
        expect(opened).toEqual(split === undefined ? undefined : { ...split, intact: false });
      }
  });

  test('is hashed alike however long it is, and after whatever was hashed before', () => {
    const before = genesisHash(EXAMPLE_LEDGER, EXAMPLE_PARTITION);
    for (const body of ['{}', `{"é":"${'語'.repeat(30_000)}"}`, `{"a":"${'a'.repeat(70_000)}"}`, '{"a":1}']) {
      const bytes = Buffer.concat([Buffer.from(before, 'hex'), Buffer.from(body)]);
      const hash = createHash('sha256').update(bytes).digest('hex');
      expect(chainHash(before, body)).toBe(hash);
      const value = Buffer.from(messageOf({ body, prevHash: before, hash }));
      expect(openMessage(value)).toEqual({ body, prevHash: before, hash, intact: true });
    }
    expect(() => chainHash('12', '{}')).toThrow('64 hex digits');
  });
});

const python = (lines: readonly string[], partition = EXAMPLE_PARTITION) =>
  spawnSync(
    'python3',
    [fileURLToPath(new URL('verify_chain.py', import.meta.url)), EXAMPLE_LEDGER, partition.toString()],
    {
      input: `${lines.join('\n')}\n`,
      encoding: 'utf8',
    },
  );

const hasPython = spawnSync('python3', ['--version']).status === 0;

// Skipped where there is no python3: what it checks is checked above in TypeScript too, if less independently.
describe.skipIf(!hasPython)('a script in Python that knows only docs/EVENTS.md', () => {
  test('verifies the messages on Kafka', () => {
    expect(python(golden)).toMatchObject({ stdout: '10 events, the chain holds\n', status: 0 });
  });

  test('verifies the rows of the journal', () => {
    const rows = exampleChain().map(({ body, hash }) => `${body}\t${hash}`);
    expect(python(rows)).toMatchObject({ stdout: '10 events, the chain holds\n', status: 0 });
  });

  test('finds a chain of another partition', () => {
    expect(python(golden, 8)).toMatchObject({ stdout: 'the chain breaks at position 1\n', status: 1 });
  });

  test.each([1, 5, 10])('names the position of one changed digit: %i', (position) => {
    const changed = golden.map((value, index) => (index + 1 === position ? value.replace('"1.0"', '"1.1"') : value));
    expect(python(changed).stdout).toBe(`the chain breaks at position ${position.toString()}\n`);
  });

  test('finds an event that is missing, and two that changed places', () => {
    const [first = '', second = '', ...rest] = golden;
    expect(python([first, ...rest]).stdout).toBe('the chain breaks at position 2\n');
    expect(python([second, first, ...rest]).stdout).toBe('the chain breaks at position 1\n');
  });
});
