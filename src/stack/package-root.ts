import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

const manifest = createRequire(import.meta.url).resolve('#package');

/** The folder of this package, whether run from sources or from dist: docker-compose.yml lies there. */
export const PACKAGE_ROOT = dirname(manifest);

/** This package's version. */
export const PACKAGE_VERSION = (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
