/** The files that are ours, as text and as syntax. */
import { readFileSync, readdirSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The folders whose files people write and read. */
const FOLDERS = ['src', 'events', 'projections', 'lua', 'migrations', 'test', 'bench', 'scripts'];
const WRITTEN_BY_HAND = ['.ts', '.js', '.lua', '.sql', '.py', '.sh'];

export interface OurFile {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
}

const walk = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && WRITTEN_BY_HAND.includes(extname(entry.name)))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();

export const FILES: readonly OurFile[] = FOLDERS.flatMap(walk).map((path) => ({
  path,
  text: readFileSync(join(ROOT, path), 'utf8'),
}));

export const under = (...folders: readonly string[]): readonly OurFile[] =>
  FILES.filter(({ path }) => folders.some((folder) => path.startsWith(`${folder}/`)));

export interface SyntaxFile extends OurFile {
  readonly syntax: ts.SourceFile;
}

export const SYNTAX: readonly SyntaxFile[] = FILES.filter(({ path }) => path.endsWith('.ts')).map((file) => ({
  ...file,
  syntax: ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true),
}));

/** Every node below, parents before children. */
export function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node;
  const children: ts.Node[] = [];
  node.forEachChild((child) => {
    children.push(child);
  });
  for (const child of children) yield* nodesOf(child);
}

/** `path:line` of a node, so that an editor finds it. */
export const whereIs = ({ path, syntax }: SyntaxFile, node: ts.Node): string =>
  `${path}:${(syntax.getLineAndCharacterOfPosition(node.getStart(syntax)).line + 1).toString()}`;

export const linesOf = (text: string): number => text.trimEnd().split('\n').length;

/** Every module that a file imports, also for types only, and what it re-exports. */
export const importsOf = ({ syntax }: SyntaxFile): readonly string[] =>
  [...nodesOf(syntax)].flatMap((node) => {
    const from =
      ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
          ? node.arguments[0]
          : undefined;
    return from !== undefined && ts.isStringLiteral(from) ? [from.text] : [];
  });
