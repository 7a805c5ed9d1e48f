/** The document is made of the schemas that validate and write: what it says is what happens. */
import { beforeAll, describe, expect, test } from 'vitest';
import { HttpHarness } from '../stand-in/http-harness.js';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
  readonly responses: Readonly<
    Record<
      string,
      { readonly description: string; readonly content?: Readonly<Record<string, { readonly schema: object }>> }
    >
  >;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

let http: HttpHarness;
let text: string;
let document: Document;
beforeAll(async () => {
  http = await HttpHarness.start();
  text = (await http.get('/openapi.json', { key: '' })).text;
  document = JSON.parse(text) as Document;
});

const operations = (): { name: string; operation: Operation }[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );

describe('/openapi.json', () => {
  test('is OpenAPI 3.1 and has the whole surface', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(
      operations()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(
      [
        'POST /v1/accounts',
        'GET /v1/accounts/{id}',
        'GET /v1/accounts/{id}/events',
        'POST /v1/accounts/{id}/recharges',
        'POST /v1/accounts/{id}/adjustments',
        'POST /v1/reservations',
        'GET /v1/reservations/{id}',
        'POST /v1/reservations/{id}/finalize',
        'POST /v1/reservations/{id}/refund',
        'POST /v1/reservations/{id}/extend',
        'POST /v1/batch',
        'PUT /v1/models/{id}/max-cost',
        'GET /v1/models/{id}',
        'GET /healthz',
        'GET /readyz',
        'GET /metrics',
      ].sort(),
    );
  });

  test('refers to nothing that it does not have', () => {
    const refs = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = '']) => ref);
    expect(refs.length).toBeGreaterThan(50);
    const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect([...new Set(refs)].filter((ref) => !known.includes(ref))).toEqual([]);
  });

  test('documents for every operation its answer, what can go wrong, and the key that it needs', () => {
    for (const { name, operation } of operations()) {
      const statuses = Object.keys(operation.responses);
      expect([name, statuses.some((s) => s.startsWith('2')), statuses.includes('500')]).toEqual([name, true, true]);
      const keyed = name.includes('/v1/');
      expect([name, operation.security?.length]).toEqual([name, keyed ? 1 : 0]);
      const wanted = [
        ...(keyed ? ['401', '403', '503'] : []),
        ...(operation.requestBody === undefined ? [] : ['400', '413', '415']),
      ];
      expect([name, wanted.filter((s) => !statuses.includes(s))]).toEqual([name, []]);
      expect(operation.summary).not.toBe('');
    }
  });

  test('shows problems as problem+json, and out of quota as JSON', () => {
    const reserve = document.paths['/v1/reservations']?.['post']?.responses;
    expect(Object.keys(reserve?.['422']?.content ?? {})).toEqual(['application/problem+json']);
    expect(Object.keys(reserve?.['429']?.content ?? {})).toEqual(['application/json']);
    expect(reserve?.['422']?.description).toContain('max_cost_unknown');
  });

  test('lets no body have members that it does not name', () => {
    const bodies = operations().flatMap(({ operation }) => Object.values(operation.requestBody?.content ?? {}));
    const names = bodies.map(({ schema }) => (schema as { $ref?: string }).$ref?.split('/').at(-1) ?? '');
    const open = [...names, 'BatchReserve', 'BatchFinalize', 'BatchRefund'].filter(
      (name) =>
        (document.components.schemas[name] as { additionalProperties?: unknown }).additionalProperties !== false,
    );
    expect(open).toEqual([]);
  });

  test('tells which command of a batch an op is', () => {
    const batch = JSON.stringify(document.components.schemas['Batch']);
    expect(batch).toContain('"mapping":{"reserve":"#/components/schemas/BatchReserve"');
  });

  test('has the longest time to live that is configured', async () => {
    const other = await HttpHarness.start({ ttlMaxSeconds: 7 });
    expect((await other.get('/openapi.json')).text).toContain('1 to 7.');
    expect(await other.post('/v1/reservations', { amount: 1, ttl_seconds: 8 })).toMatchObject({ status: 400 });
    await other.app.close();
  });
});

test('/docs loads: the page, its scripts and the document that they show', async () => {
  const page = await http.get('/docs', { key: '' });
  expect(page).toMatchObject({ status: 200 });
  expect(page.headers['content-type']).toContain('text/html');
  const assets = [...page.text.matchAll(/(?:src|href)="\.?\/?(docs\/[^"]+|static\/[^"]+)"/g)].map(
    ([, path = '']) => path,
  );
  expect(assets.length).toBeGreaterThan(2);
  for (const path of assets) {
    const url = path.startsWith('docs/') ? `/${path}` : `/docs/${path}`;
    expect([url, (await http.get(url, { key: '' })).status]).toEqual([url, 200]);
  }
  expect(JSON.parse((await http.get('/docs/json', { key: '' })).text)).toEqual(document);
});
