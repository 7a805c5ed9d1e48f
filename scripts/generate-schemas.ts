/**
 * Writes schemas/ from events/. With `--release`, also keeps the JSON Schemas as the released ones, which later
 * changes are held to (test/contract/schemas.test.ts).
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_ROOT, PACKAGE_VERSION } from '../src/stack/package-root.js';
import { eventSchemas, schemaDocuments } from './schemas/documents.js';

const writeAll = async (folder: string, files: ReadonlyMap<string, string>): Promise<void> => {
  await mkdir(folder, { recursive: true });
  for (const [file, text] of files) await writeFile(join(folder, file), text);
};

const folder = join(PACKAGE_ROOT, 'schemas');
await writeAll(folder, schemaDocuments(PACKAGE_VERSION));
if (process.argv.includes('--release')) await writeAll(join(folder, 'released'), eventSchemas());
