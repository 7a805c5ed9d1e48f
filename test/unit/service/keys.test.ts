import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { Keyring, hasScope, mintFirstKey, mintKey } from '../../../src/service/keys.js';
import { MemoryKeys } from '../../stand-in/memory-keys.js';

let store: MemoryKeys;
beforeEach(() => {
  store = new MemoryKeys();
});

describe('a new key', () => {
  test('is hf_, its id and 256 random bits; only its SHA-256 is stored', async () => {
    const { text, key } = await mintKey(store, { scopes: ['reserve', 'reserve'], label: 'gateway', tenant: 'acme' });
    expect(text).toMatch(/^hf_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/);
    expect(key).toMatchObject({ tenant: 'acme', scopes: ['reserve'], label: 'gateway' });
    expect(text).toContain(`hf_${key.id}_`);
    const [stored] = await store.list();
    expect(Buffer.from(stored?.secretSha256 ?? [])).toEqual(createHash('sha256').update(text).digest());
    expect(JSON.stringify(stored)).not.toContain(text.slice(-43));
  });

  test('is like no other', async () => {
    const texts = await Promise.all(Array.from({ length: 50 }, () => mintKey(store, { scopes: ['read'], label: '' })));
    expect(new Set(texts.map((t) => t.text)).size).toBe(50);
  });

  test.each([
    ['scopes', { scopes: [], label: '' }],
    ['tenant', { scopes: ['read'] as const, label: '', tenant: '@holdfast' }],
    ['label', { scopes: ['read'] as const, label: 'x'.repeat(201) }],
  ])('with wrong %s is refused', async (field, request) => {
    await expect(mintKey(store, request)).rejects.toMatchObject({ name: 'InvalidInputError', field });
  });

  test('is made at first start, and only then', async () => {
    const first = await mintFirstKey(store);
    expect(first?.key).toMatchObject({ scopes: ['admin'] });
    expect(first?.key).not.toHaveProperty('tenant');
    expect(await mintFirstKey(store)).toBeUndefined();
  });
});

test('admin includes every other scope; the others include nothing', () => {
  expect(hasScope({ scopes: ['admin'] }, 'fund')).toBe(true);
  expect(hasScope({ scopes: ['fund'] }, 'fund')).toBe(true);
  expect(hasScope({ scopes: ['fund', 'reserve'] }, 'read')).toBe(false);
  expect(hasScope({ scopes: ['read'] }, 'admin')).toBe(false);
});

describe('a keyring', () => {
  let nowMs = 0;
  const keyring = (): Keyring => new Keyring(store, 3000, () => nowMs);

  test('looks a key up once in a while, however often it is used at once', async () => {
    const { text } = await mintKey(store, { scopes: ['read'], label: '' });
    const ring = keyring();
    const found = await Promise.all(Array.from({ length: 20 }, async () => await ring.authenticate(text)));
    expect(found.every((key) => key?.label === '')).toBe(true);
    expect(ring.authenticate(text)).toMatchObject({ scopes: ['read'] });
    expect(store.lookUps).toBe(1);
  });

  test('refuses a revoked key as soon as it looks again', async () => {
    const { text, key } = await mintKey(store, { scopes: ['read'], label: '' });
    const ring = keyring();
    await ring.authenticate(text);
    await store.revoke(key.id);
    nowMs += 3000;
    expect(await ring.authenticate(text)).toBeUndefined();
  });

  test('asks the store once for an unknown id, and never for what is no key', async () => {
    const ring = keyring();
    const unknown = `hf_0123456789abcdef_${'A'.repeat(43)}`;
    expect(await ring.authenticate(unknown)).toBeUndefined();
    expect(ring.authenticate(unknown)).toBeUndefined();
    for (const text of ['', 'hf_', 'sk-1', `${unknown}A`, unknown.toUpperCase()])
      expect(ring.authenticate(text)).toBeUndefined();
    expect(store.lookUps).toBe(1);
  });

  test('does not remember a look-up that failed', async () => {
    const { text } = await mintKey(store, { scopes: ['read'], label: '' });
    const ring = keyring();
    store.failure = new Error('away');
    await expect(ring.authenticate(text)).rejects.toThrow('away');
    store.failure = undefined;
    expect(await ring.authenticate(text)).toMatchObject({ scopes: ['read'] });
  });
});
