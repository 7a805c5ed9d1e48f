/** Writes docs/CONFIGURATION.md from src/config/settings.ts. A test fails while the two differ. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../src/stack/package-root.js';
import { configurationDocument } from './configuration/document.js';

await writeFile(join(PACKAGE_ROOT, 'docs', 'CONFIGURATION.md'), await configurationDocument());
