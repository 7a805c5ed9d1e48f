/** The style of this repository, held by a test: what each rule is for stands beside it. There is no list of exceptions. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { longFunctions, undocumented } from './tidy/functions.js';
import { ONE_IMPORT_POINT, forbiddenImports, importersOf, strayPackages, unknownLayers } from './tidy/layers.js';
import { FILES, ROOT, SYNTAX, linesOf, nodesOf, under, whereIs } from './tidy/tree.js';
import { ALLOWED_WAITS, waitsOutsideLoops } from './tidy/waits.js';

const FILE_LINES_MAX = 300;
const FUNCTION_LINES_MAX = 60;
const LUA_LINES_MAX = 50;
/** Drawers into which anything fits say nothing of what is in them. */
const DRAWER = /(^|\/)(utils?|helpers?|common|misc|shared|lib)(\.|\/|$)/;

/** What is wrong, one a line, so that a failure reads as a list. */
const nothingWrong = (found: readonly string[]): void => expect(found).toEqual([]);

describe('size', () => {
  test(`every file of ours is under ${FILE_LINES_MAX} lines`, () => {
    nothingWrong(
      FILES.filter(({ text }) => linesOf(text) >= FILE_LINES_MAX).map((f) => `${f.path} ${linesOf(f.text)}`),
    );
  });

  test(`every function is under ${FUNCTION_LINES_MAX} lines`, () => nothingWrong(longFunctions(FUNCTION_LINES_MAX)));

  test(`every Lua script has at most ${LUA_LINES_MAX} lines: Redis serves nobody else while it runs`, () => {
    nothingWrong(under('lua').filter(({ text }) => linesOf(text) > LUA_LINES_MAX).map((f) => f.path)); // prettier-ignore
  });
});

describe('direction', () => {
  test('every folder has its place in the table of layers', () => nothingWrong(unknownLayers()));

  test('imports follow the table of layers', () => nothingWrong(forbiddenImports()));

  test('packages stay with the layer that they belong to; the language and the rules import none', () =>
    nothingWrong(strayPackages()));

  test.each(ONE_IMPORT_POINT)('%s is imported in one file, so that it can be replaced there', (name) => {
    expect(importersOf(name)).toHaveLength(1);
  });
});

describe('names and words', () => {
  test('no file or folder is a drawer for anything', () => {
    nothingWrong(FILES.map(({ path }) => path).filter((path) => DRAWER.test(path)));
  });

  test('every exported function and class of src/ and events/ says what it does', () =>
    nothingWrong(undocumented('src', 'events')));
});

describe('escapes', () => {
  test('nothing is printed by console: what is said goes through the log or the command line’s output', () => {
    nothingWrong(
      SYNTAX.flatMap((file) =>
        [...nodesOf(file.syntax)]
          .filter((node) => ts.isPropertyAccessExpression(node) && node.expression.getText() === 'console')
          .map((node) => whereIs(file, node)),
      ),
    );
  });

  test('no value is of the type any, and no check is switched off without a reason', () => {
    const comment = /@ts-(ignore|nocheck)|eslint-disable(?!.* -- \S)/;
    const off = FILES.filter(
      ({ path, text }) => path.endsWith('.ts') && path !== 'test/tidy.test.ts' && comment.test(text),
    );
    const any = SYNTAX.flatMap((file) =>
      [...nodesOf(file.syntax)]
        .filter((node) => node.kind === ts.SyntaxKind.AnyKeyword)
        .map((node) => whereIs(file, node)),
    );
    nothingWrong([...off.map(({ path }) => path), ...any]);
  });
});

describe('tests', () => {
  test('none runs alone, and none is skipped without a line above that says why', () => {
    const switched = /\b(?:test|it|describe)(?:\.\w+)*\.(only|skip|todo|skipIf|runIf)\b/;
    nothingWrong(
      under('test').flatMap(({ path, text }) =>
        text.split('\n').flatMap((line, index, lines) => {
          const how = switched.exec(line)?.[1];
          const said = /^\s*\/\/ Skipped\b.*: ./.test(lines[index - 1] ?? '');
          return how === undefined || (how !== 'only' && said) ? [] : [`${path}:${index + 1}: ${how}`];
        }),
      ),
    );
  });

  test('none sleeps where it could wait for a condition', () => nothingWrong(waitsOutsideLoops()));

  test('every wait that is allowed is still there', () => {
    nothingWrong(ALLOWED_WAITS.map(({ path }) => path).filter((path) => !FILES.some((file) => file.path === path)));
  });
});

test('the lock file holds no download addresses: it is the same behind any registry', () => {
  expect(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).not.toContain('"resolved"');
});
