import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { chainHash, genesisHash, messageOf, splitMessage } from '../../events/index.js';
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
      expect(decode(split.body).position).toBe(index + 1);
      prevHash = split.hash;
    }
  });

  test.each(['', '{}', '{"a":1}', golden[0]?.slice(0, -1) ?? '', `${golden[0] ?? ''}\n`])(
    '%j is no message',
    (value) => {
      expect(splitMessage(value)).toBeUndefined();
    },
  );
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
