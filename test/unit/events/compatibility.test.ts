import { describe, expect, test } from 'vitest';
import { messageJsonSchema } from '../../../events/index.js';
import { incompatibilities } from '../../../scripts/schemas/compatibility.js';

interface Mutable {
  properties: Record<string, Mutable>;
  required: string[];
  $defs: Record<string, Mutable>;
  [rule: string]: unknown;
}

const reserved = (): Mutable => structuredClone(messageJsonSchema('Reserved')) as unknown as Mutable;
const dataOf = (schema: Mutable): Mutable => schema.properties['data'] as Mutable;

/** What comes of a change of the Reserved schema. */
const after = (change: (schema: Mutable, data: Mutable) => void): string[] => {
  const changed = reserved();
  change(changed, dataOf(changed));
  return incompatibilities(reserved(), changed);
};

describe('a change of a released schema breaks no reader when it', () => {
  test('changes nothing', () => {
    expect(after(() => undefined)).toEqual([]);
  });

  test('adds an optional member', () => {
    expect(after((_, data) => (data.properties['region'] = { type: 'string' } as unknown as Mutable))).toEqual([]);
  });

  test('says the same in other words', () => {
    expect(after((_, data) => (data['description'] = 'Something is set aside'))).toEqual([]);
  });
});

describe('a change of a released schema is caught when it', () => {
  test('removes a member', () => {
    expect(after((_, data) => Reflect.deleteProperty(data.properties, 'level'))).toContain('/data/level: was removed');
  });

  test('makes a member optional', () => {
    expect(after((_, data) => data.required.splice(data.required.indexOf('level'), 1))).toEqual([
      '/data/level: is no longer always there',
    ]);
  });

  test('requires a member that was optional', () => {
    expect(after((_, data) => data.required.push('model'))).toEqual(['/data/model: is now required']);
  });

  test('adds a required member', () => {
    expect(
      after((_, data) => {
        data.properties['region'] = { type: 'string' } as unknown as Mutable;
        data.required.push('region');
      }),
    ).toEqual(['/data/region: was added and is required']);
  });

  test('changes a type', () => {
    expect(after((_, data) => ((data.properties['ttl_seconds'] as Mutable)['type'] = 'string'))).toEqual([
      '/data/ttl_seconds: type was "integer" and is "string"',
    ]);
  });

  test.each([
    ['narrows', ['larger', 'caller']],
    ['widens', ['larger', 'caller', 'model', 'random']],
  ])('%s an enumeration', (_title, values) => {
    expect(after((_, data) => ((data.properties['hold_policy'] as Mutable)['enum'] = values))).toHaveLength(1);
  });

  test('changes a shared definition, deep inside', () => {
    expect(
      after((schema) => {
        const available = schema.$defs['Posting']?.properties['available'];
        if (available !== undefined) available['pattern'] = '^[0-9]+$';
      }).join(),
    ).toContain('/data/postings[]/available: pattern was');
  });
});
