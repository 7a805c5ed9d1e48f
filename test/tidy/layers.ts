/** Who may import whom. The flow of the ledger is readable from the tree only while this holds. */
import { dirname, join } from 'node:path/posix';
import { SYNTAX, importsOf } from './tree.js';

/**
 * A layer is a folder (or a file directly under src/), and what it may import besides itself.
 *   events ← core ← { adapters, service, projections } ← { http, cli, recovery } ← compose
 * No adapter knows another, and the service knows none: they meet in compose.ts. What is not listed may not exist: a new
 * folder starts with the question where it stands.
 */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  // The language and the rules.
  events: [],
  'src/core': ['events'],
  // One adapter a service, the compiled check of the log's bodies, and the flow.
  'src/journal': ['src/core', 'events'],
  'src/redis': ['src/core', 'events'],
  'src/kafka': ['src/core', 'events'],
  'src/validation': ['src/core', 'events'],
  'src/service': ['src/core', 'events'],
  projections: ['src/core', 'events'],
  // Leaves: they know nothing of the ledger but its words.
  'src/config': ['events'],
  'src/pricing': ['events'],
  'src/traces': [],
  'src/stack': [],
  'src/logging': [],
  // What watches, mends and lets in.
  'src/metrics': ['src/service', 'src/core', 'events'],
  'src/recovery': ['src/core', 'events'],
  'src/checkpoints': ['src/core', 'events'],
  'src/http': ['src/service', 'src/metrics', 'src/logging', 'src/core', 'events'],
  'src/load': ['src/traces', 'src/pricing', 'src/core', 'events'],
  // The only places where the parts are built and joined.
  'src/compose': ['*'],
  'src/cli': ['*'],
  'src/index': ['src/compose', 'src/config', 'src/service', 'src/core', 'events'],
  // Tools around the ledger.
  bench: ['*'],
  scripts: ['*'],
  test: ['*'],
};

/** A package and the only place that may import it: a folder, or one file. What is not listed may be imported anywhere but in events/ and src/core/. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@effect/schema': ['events/schema.ts'],
  kafkajs: ['src/kafka/'],
  ioredis: ['src/redis/'],
  pg: ['src/journal/', 'src/stack/', 'src/cli/'],
  fastify: ['src/http/'],
  ajv: ['src/validation/', 'src/http/', 'scripts/'],
  'prom-client': ['src/metrics/'],
  commander: ['src/cli/'],
};
/** Of these one file imports them, and everybody else that file. */
export const ONE_IMPORT_POINT = ['@effect/schema', 'kafkajs'];

const TOOLS = ['bench', 'scripts', 'test'];

/** The layer of a file: its folder under src/ (or its own name there), else its first folder. */
export const layerOf = (path: string): string => {
  const [first = '', second = ''] = path.split('/');
  return first === 'src' ? `src/${second.replace(/\.ts$/, '')}` : first;
};

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

interface Import {
  readonly path: string;
  readonly specifier: string;
}

const ALL: readonly Import[] = SYNTAX.flatMap((file) =>
  importsOf(file).map((specifier) => ({ path: file.path, specifier })),
);
const isOurs = ({ specifier }: Import): boolean => specifier.startsWith('.');
const isBuiltIn = ({ specifier }: Import): boolean => specifier.startsWith('node:');

/** Imports between our files that the table does not allow. */
export const forbiddenImports = (): string[] =>
  ALL.filter(isOurs).flatMap(({ path, specifier }) => {
    const from = layerOf(path);
    const to = layerOf(join(dirname(path), specifier).replace(/\.js$/, '.ts'));
    const allowed = LAYERS[from] ?? [];
    const fine =
      from === to || (allowed.includes('*') ? TOOLS.includes(from) || !TOOLS.includes(to) : allowed.includes(to));
    return fine ? [] : [`${path} imports ${specifier}: ${from} must not know ${to}`];
  });

/** Layers on disk that the table does not name, and layers of the table that are gone. */
export const unknownLayers = (): string[] => {
  const onDisk = new Set(SYNTAX.map(({ path }) => layerOf(path)));
  return [
    ...[...onDisk].filter((layer) => !(layer in LAYERS)),
    ...Object.keys(LAYERS).filter((layer) => !onDisk.has(layer)),
  ];
};

/** Packages imported where they do not belong. The language and the rules import none. */
export const strayPackages = (): string[] =>
  ALL.filter((i) => !isOurs(i) && !isBuiltIn(i)).flatMap(({ path, specifier }) => {
    const name = packageOf(specifier);
    if (path.startsWith('test/') || path.startsWith('bench/')) return [];
    const places = PACKAGES[name];
    const pure = path.startsWith('events/') || path.startsWith('src/core/');
    const fine = places === undefined ? !pure : places.some((place) => path.startsWith(place));
    return fine ? [] : [`${path} imports ${name}`];
  });

/** The files outside test/ that import a package. */
export const importersOf = (name: string): string[] => [
  ...new Set(
    ALL.filter(({ path, specifier }) => packageOf(specifier) === name && !path.startsWith('test/')).map((i) => i.path),
  ),
];
