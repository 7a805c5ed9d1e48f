import { readFile, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { EVENT_NAMES, isTimestamp, messageOf, parseAmount } from '../../events/index.js';
import { schemaDocuments } from '../../scripts/schemas/documents.js';
import { incompatibilities } from '../../scripts/schemas/compatibility.js';
import { exampleChain } from '../../scripts/schemas/examples.js';
import { PACKAGE_VERSION } from '../../src/stack/package-root.js';

const FOLDER = new URL('../../schemas/', import.meta.url);
const RELEASED = new URL('released/', FOLDER);
const made = schemaDocuments(PACKAGE_VERSION);
const parsed = (text: string): unknown => JSON.parse(text);

const ajvWithFormats = (): Ajv => {
  const ajv = new Ajv({ strict: false, allErrors: true });
  ajv.addFormat('int64', { type: 'string', validate: (text) => parseAmount(text) !== undefined });
  ajv.addFormat('date-time', { type: 'string', validate: isTimestamp });
  for (const format of ['uri', 'uri-reference', 'uri-template', 'email', 'regex']) ajv.addFormat(format, true);
  return ajv;
};

describe('schemas/', () => {
  test('holds exactly what events/ says (else: npm run schemas)', async () => {
    const files = (await readdir(FOLDER)).filter((file) => file !== 'released');
    expect(files.sort()).toEqual([...made.keys()].sort());
    for (const [file, text] of made) expect(await readFile(new URL(file, FOLDER), 'utf8'), file).toBe(text);
  });

  test('describes every event: the examples are valid, one of another type is not', () => {
    const checks = new Map(
      EVENT_NAMES.map((name) => [
        name,
        ajvWithFormats().compile(parsed(made.get(`${name.toLowerCase()}.v1.schema.json`) ?? '') as object),
      ]),
    );
    for (const stored of exampleChain())
      for (const [name, check] of checks)
        expect(check(parsed(messageOf(stored))), `${stored.event.name} by ${name}`).toBe(name === stored.event.name);
  });
});

describe('the released schemas', () => {
  test('still hold: a version of an event only ever gains optional members', async () => {
    const files = await readdir(RELEASED);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const now = made.get(file);
      // A version that is gone from the catalogue stays readable by its upcast; its schema is kept as it was.
      if (now === undefined) continue;
      expect(incompatibilities(parsed(await readFile(new URL(file, RELEASED), 'utf8')), parsed(now)), file).toEqual([]);
    }
  });
});

interface Document {
  readonly channels: { readonly events: { readonly address: string; readonly messages: object } };
  readonly components: { readonly messages: Record<string, { readonly examples: readonly { payload: unknown }[] }> };
}

describe('the AsyncAPI document', () => {
  let document: Document;
  beforeAll(() => {
    document = parse(made.get('asyncapi.yaml') ?? '') as Document;
  });

  test('is AsyncAPI 3.0, by its own published schema', () => {
    const schema = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0-without-$id.json') as object;
    const check = ajvWithFormats().compile(schema);
    check(document);
    expect(check.errors ?? []).toEqual([]);
  });

  test('has no reference that leads nowhere', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(refs.length).toBeGreaterThan(40);
    for (const path of refs) {
      const target = path
        .split('/')
        .reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document);
      expect(target, path).toBeDefined();
    }
  });

  test('has one channel, the topic, with each event as a message whose example fits its payload', () => {
    expect(document.channels.events.address).toBe('holdfast.events');
    expect(Object.keys(document.channels.events.messages)).toEqual(EVENT_NAMES);
    for (const name of EVENT_NAMES) {
      const check = ajvWithFormats().compile({ ...document, $ref: `#/components/schemas/${name}` });
      expect(check(document.components.messages[name]?.examples[0]?.payload), name).toBe(true);
    }
  });
});
