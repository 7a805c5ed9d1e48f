import type { ApiKey, KeyStore } from '../../src/core/ports.js';

/** Keys in memory. */
export class MemoryKeys implements KeyStore {
  readonly keys = new Map<string, ApiKey>();
  /** How often a key was looked up. */
  lookUps = 0;
  /** Raised by every look-up while it is set. */
  failure: Error | undefined;

  find(id: string): Promise<ApiKey | undefined> {
    this.lookUps++;
    return this.failure === undefined ? Promise.resolve(this.keys.get(id)) : Promise.reject(this.failure);
  }

  list(): Promise<readonly ApiKey[]> {
    return Promise.resolve([...this.keys.values()]);
  }

  insert(key: Omit<ApiKey, 'createdAtMs' | 'revokedAtMs'>): Promise<ApiKey> {
    const stored = { ...key, createdAtMs: Date.now() };
    this.keys.set(key.id, stored);
    return Promise.resolve(stored);
  }

  revoke(id: string): Promise<ApiKey | undefined> {
    const key = this.keys.get(id);
    if (key === undefined) return Promise.resolve(undefined);
    const revoked = { ...key, revokedAtMs: key.revokedAtMs ?? Date.now() };
    this.keys.set(id, revoked);
    return Promise.resolve(revoked);
  }
}
