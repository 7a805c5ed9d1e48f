import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configurationDocument } from '../../scripts/configuration/document.js';
import { allSettings, environmentKey } from '../../src/config/settings.js';
import { PACKAGE_ROOT } from '../../src/stack/package-root.js';

const page = readFileSync(join(PACKAGE_ROOT, 'docs', 'CONFIGURATION.md'), 'utf8');

test('docs/CONFIGURATION.md is what the settings say (else: npm run docs:configuration)', async () => {
  expect(page).toBe(await configurationDocument());
});

test('docs/CONFIGURATION.md names every setting', () => {
  for (const { section, key } of allSettings()) expect(page).toContain(`\`${environmentKey(section, key)}\``);
});
