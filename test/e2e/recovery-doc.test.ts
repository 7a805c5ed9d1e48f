import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Command } from 'commander';
import { migrateCommand } from '../../src/cli/migrate.js';
import { rebuildCommand } from '../../src/cli/rebuild.js';
import { restoreCommand } from '../../src/cli/restore.js';
import { resumeCommand } from '../../src/cli/resume.js';
import { verifyCommand } from '../../src/cli/verify.js';

const text = readFileSync('docs/RECOVERY.md', 'utf8');
const lines = [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) => block.trim().split('\n'));
const commands: Readonly<Record<string, () => Command>> = {
  migrate: migrateCommand,
  rebuild: rebuildCommand,
  restore: restoreCommand,
  resume: resumeCommand,
  verify: verifyCommand,
};

describe('docs/RECOVERY.md', () => {
  test('has commands', () => expect(lines.length).toBeGreaterThan(5));

  test.each(lines)('%s exists, with its options', (line) => {
    const [program, name = '', ...words] = line.split(' ');
    expect(program).toBe('holdfast');
    const command = commands[name]?.();
    if (command === undefined) throw new Error(`There is no command ${name}.`);
    command.exitOverride().configureOutput({ writeErr: () => undefined });
    const { unknown, operands } = command.parseOptions(words);
    expect([unknown, operands]).toEqual([[], []]);
  });
});
