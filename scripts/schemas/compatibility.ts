/** What says something about a member to a reader, but nothing about what may stand there. */
const WORDS = new Set(['$schema', 'title', 'description', 'examples', 'properties', 'required', '$defs']);

type Node = Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);
const nodeAt = (node: Node, key: string): Node => (isNode(node[key]) ? node[key] : {});
const requiredOf = (node: Node): readonly unknown[] => (Array.isArray(node['required']) ? node['required'] : []);

/** Puts what `$ref` points to in its place: a renamed definition is no change. The schemas have no cycles. */
const resolve = (value: unknown, root: Node): unknown => {
  if (Array.isArray(value)) return value.map((item) => resolve(item, root));
  if (!isNode(value)) return value;
  const { $ref, ...rest } = value;
  const target = typeof $ref === 'string' ? nodeAt(nodeAt(root, '$defs'), $ref.slice('#/$defs/'.length)) : {};
  return Object.fromEntries(Object.entries({ ...target, ...rest }).map(([key, inner]) => [key, resolve(inner, root)]));
};

/** The same value gives the same text, whatever the order of members. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    isNode(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );

const compareRules = (before: Node, after: Node, where: string): string[] => {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...keys].filter((key) => !WORDS.has(key) && key !== 'items');
  return changed
    .filter((key) => textOf(before[key] ?? null) !== textOf(after[key] ?? null))
    .map((key) => `${where}: ${key} was ${textOf(before[key] ?? null)} and is ${textOf(after[key] ?? null)}`);
};

const compare = (before: Node, after: Node, where: string): string[] => {
  const found = compareRules(before, after, where);
  const [was, is] = [nodeAt(before, 'properties'), nodeAt(after, 'properties')];
  const [wasRequired, isRequired] = [requiredOf(before), requiredOf(after)];
  for (const key of Object.keys(was)) {
    const inner = `${where}/${key}`;
    if (!(key in is)) found.push(`${inner}: was removed`);
    else found.push(...compare(nodeAt(was, key), nodeAt(is, key), inner));
    if (wasRequired.includes(key) && !isRequired.includes(key)) found.push(`${inner}: is no longer always there`);
    if (!wasRequired.includes(key) && isRequired.includes(key)) found.push(`${inner}: is now required`);
  }
  for (const key of Object.keys(is))
    if (!(key in was) && isRequired.includes(key)) found.push(`${where}/${key}: was added and is required`);
  if ('items' in before || 'items' in after)
    found.push(...compare(nodeAt(before, 'items'), nodeAt(after, 'items'), `${where}[]`));
  return found;
};

/**
 * What of `after` breaks those who know `before`: readers of the released schema that meet new events, and readers of
 * the new schema that meet old events. The one change that breaks neither is a new optional member; anything else needs a
 * new version of the event. Empty when they get on.
 */
export const incompatibilities = (before: unknown, after: unknown): string[] => {
  if (!isNode(before) || !isNode(after)) return ['a schema is an object'];
  return compare(resolve(before, before) as Node, resolve(after, after) as Node, '');
};
