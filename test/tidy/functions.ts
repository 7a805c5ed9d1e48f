/** What is asked of functions: short, and said what for. */
import ts from 'typescript';
import { SYNTAX, nodesOf, whereIs } from './tree.js';
import type { SyntaxFile } from './tree.js';

type WithBody = ts.FunctionLikeDeclaration & { readonly body: ts.Node };

const isFunction = (node: ts.Node): node is WithBody =>
  ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;

/** The body of a `describe` holds tests as a file does: each of those counts on its own. */
const isGroupOfTests = (node: ts.Node): boolean =>
  ts.isCallExpression(node.parent) && /^describe\b/.test(node.parent.expression.getText());

const nameOf = (node: WithBody): string => {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
  return named?.getText() ?? 'a function';
};

/** Functions of `limit` lines or more. */
export const longFunctions = (limit: number): string[] =>
  SYNTAX.flatMap((file) =>
    [...nodesOf(file.syntax)].filter(isFunction).flatMap((node) => {
      const lines = node.getText(file.syntax).split('\n').length;
      return lines < limit || isGroupOfTests(node)
        ? []
        : [`${whereIs(file, node)}: ${nameOf(node)} has ${lines.toString()} lines`];
    }),
  );

const isExported = (node: ts.Statement): boolean =>
  ts.canHaveModifiers(node) &&
  (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword);

const holdsFunction = (statement: ts.Statement): boolean =>
  ts.isFunctionDeclaration(statement) ||
  ts.isClassDeclaration(statement) ||
  (ts.isVariableStatement(statement) &&
    statement.declarationList.declarations.some(
      ({ initializer }) =>
        initializer !== undefined && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)),
    ));

const nameOfStatement = (statement: ts.Statement): string =>
  ts.isVariableStatement(statement)
    ? statement.declarationList.declarations.map(({ name }) => name.getText()).join(', ')
    : ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)
      ? (statement.name?.text ?? 'default')
      : '';

const hasDocstring = (file: SyntaxFile, statement: ts.Statement): boolean =>
  (ts.getLeadingCommentRanges(file.text, statement.getFullStart()) ?? []).some(({ pos }) =>
    file.text.startsWith('/**', pos),
  );

/** Exported functions and classes under these folders that do not say what they do. */
export const undocumented = (...folders: readonly string[]): string[] =>
  SYNTAX.filter(({ path }) => folders.some((folder) => path.startsWith(`${folder}/`))).flatMap((file) =>
    file.syntax.statements
      .filter((statement) => isExported(statement) && holdsFunction(statement) && !hasDocstring(file, statement))
      .map((statement) => `${whereIs(file, statement)}: ${nameOfStatement(statement)}`),
  );
