/** Every member of every posting in events/posting.ts, changed one at a time, and moved to another bucket so that the sum stays 0. */
import ts from 'typescript';
import type { Change } from './change.js';

const FILE = 'events/posting.ts';
const BUCKETS = ['available', 'held', 'used', 'funded'];

interface Member {
  readonly of: string;
  readonly bucket: string;
  readonly value: string;
  readonly from: number;
  readonly to: number;
}

/** The buckets of an object literal anywhere below, each under the name of the function or member that it belongs to. */
const membersBelow = (node: ts.Node, syntax: ts.SourceFile, of: string): Member[] => {
  const found: Member[] = [];
  node.forEachChild((child) => {
    const name = ts.isPropertyAssignment(child) || ts.isVariableDeclaration(child) ? child.name.getText(syntax) : '';
    if (ts.isPropertyAssignment(child) && BUCKETS.includes(name)) {
      const { initializer } = child;
      const [from, to] = [initializer.getStart(syntax), initializer.end];
      found.push({ of, bucket: name, value: initializer.getText(syntax), from, to });
    } else found.push(...membersBelow(child, syntax, name === '' ? of : name));
  });
  return found;
};

const withValues = (text: string, changed: readonly (Member & { readonly by: string })[]): string =>
  [...changed]
    .sort((one, other) => other.from - one.from)
    .reduce((left, { value, by, from, to }) => `${left.slice(0, from)}(${value}) ${by}${left.slice(to)}`, text);

const shown = (m: Member, by: string): string => `${m.bucket}: ${m.value} ${by}`;

/** The changes of the file as it stands. Raises an Error when it does not hold the four postings and what adds them up. */
export const postingChanges = (text: string): Change[] => {
  const syntax = ts.createSourceFile(FILE, text, ts.ScriptTarget.Latest, true);
  const members = membersBelow(syntax, syntax, '').filter(({ of }) => !['Posting', 'EMPTY_BUCKETS'].includes(of));
  const postings = [...new Set(members.map(({ of }) => of))];
  if (postings.length !== 5 || members.length !== 20)
    throw new Error(
      `${FILE} is another than it was: ${postings.join(', ')} with ${members.length.toString()} members.`,
    );
  const single = members.map((m): Change => ({
    name: `${m.of}: ${shown(m, '+ 1')}`,
    file: FILE,
    change: (whole) => withValues(whole, [{ ...m, by: '+ 1n' }]),
  }));
  const moved = members.flatMap((one, index) =>
    members.slice(index + 1).flatMap((other): Change[] => {
      if (one.of !== other.of || one.of === 'addPosting') return [];
      const changed = [
        { ...one, by: '+ 1n' },
        { ...other, by: '- 1n' },
      ];
      const name = `${one.of}: ${shown(one, '+ 1')}, ${shown(other, '− 1')}`;
      return [{ name, file: FILE, change: (whole) => withValues(whole, changed) }];
    }),
  );
  return [...single, ...moved];
};
