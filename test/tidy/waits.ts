/** A test that sleeps is slow on a fast machine and fails on a slow one: it waits for a condition, in a loop that ends. */
import ts from 'typescript';
import { SYNTAX, importsOf, nodesOf, whereIs } from './tree.js';

/** Waits that are none of a polling loop: file, the function or test around it, and why time itself is waited for. */
export const ALLOWED_WAITS: readonly { readonly path: string; readonly why: string }[] = [
  {
    path: 'test/integration/fault-controls.test.ts',
    why: 'Redis before 7.2 can’t be asked whether its log is on disk: appendfsync everysec is waited out',
  },
];

const isLoop = (node: ts.Node): boolean =>
  ts.isWhileStatement(node) || ts.isDoStatement(node) || ts.isForStatement(node) || ts.isForOfStatement(node);

/** What stands around a node, innermost first. */
function* around(node: ts.Node): Generator<ts.Node> {
  for (let at = node; !ts.isSourceFile(at); at = at.parent) yield at;
}

/** The parameter of the `new Promise(…)` executor around a node, if any: `setTimeout(resolve, ms)` waits, `setTimeout(act, ms)` does not. */
const promiseResolver = (node: ts.Node): string | undefined => {
  for (const at of around(node))
    if (ts.isNewExpression(at) && at.expression.getText() === 'Promise') {
      const [executor] = at.arguments ?? [];
      return executor !== undefined && ts.isArrowFunction(executor)
        ? executor.parameters[0]?.name.getText()
        : undefined;
    }
  return undefined;
};

/** Calls under test/ that let time pass, outside any loop. */
export const waitsOutsideLoops = (): string[] =>
  SYNTAX.filter(({ path }) => path.startsWith('test/')).flatMap((file) => {
    const sleeps = importsOf(file).includes('node:timers/promises');
    return [...nodesOf(file.syntax)].flatMap((node) => {
      if (!ts.isCallExpression(node) || [...around(node)].some(isLoop)) return [];
      const name = node.expression.getText();
      const first = node.arguments[0]?.getText();
      const waits =
        (sleeps && (name === 'sleep' || name === 'setTimeout')) ||
        (name === 'setTimeout' && first !== undefined && first === promiseResolver(node));
      const allowed = ALLOWED_WAITS.some(({ path }) => path === file.path);
      return waits && !allowed ? [whereIs(file, node)] : [];
    });
  });
