import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { SCOPES } from '../core/ports.js';
import type { ApiKey, KeyStore, Scope } from '../core/ports.js';
import { checkTenant } from './input.js';
import { InvalidInputError } from './ledger.js';

const ID_BYTES = 8;
const SECRET_BYTES = 32;
const KEY_TEXT = /^hf_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;
const LABEL_LENGTH_MAX = 200;

/** How long a key that was looked up is trusted, ms: a revoked one is refused everywhere after that time. */
export const KEY_CACHE_MS = 3000;
/** Most keys (and unknown ids) remembered. */
const CACHE_MAX = 10_000;

export interface KeyRequest {
  /** Absent: the key is for all tenants, and each request names one. */
  readonly tenant?: string;
  readonly scopes: readonly Scope[];
  readonly label: string;
}

export interface MintedKey {
  /** The key's text, `hf_<id>_<secret>`. It is kept nowhere: show it once. */
  readonly text: string;
  readonly key: ApiKey;
}

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer');

/**
 * Makes a key of 256 random bits and stores its SHA-256.
 * Raises InvalidInputError (`tenant`, `scopes`, `label`) and what the store raises.
 */
export const mintKey = async (store: KeyStore, { tenant, scopes, label }: KeyRequest): Promise<MintedKey> => {
  if (scopes.length === 0 || !scopes.every((scope) => SCOPES.includes(scope)))
    throw new InvalidInputError('scopes', `scopes must be one or more of ${SCOPES.join(', ')}`);
  if (label.length > LABEL_LENGTH_MAX)
    throw new InvalidInputError('label', `label must have at most ${LABEL_LENGTH_MAX.toString()} characters`);
  const id = randomBytes(ID_BYTES).toString('hex');
  const text = `hf_${id}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  const key = await store.insert({
    id,
    secretSha256: digestOf(text),
    ...(tenant === undefined ? {} : { tenant: checkTenant(tenant) }),
    scopes: [...new Set(scopes)],
    label,
  });
  return { text, key };
};

/**
 * At first start: a key for all tenants that may do everything. Undefined when a key was ever made, a revoked one too:
 * who revoked them all wants none.
 */
export const mintFirstKey = async (store: KeyStore): Promise<MintedKey | undefined> =>
  (await store.list()).length > 0 ? undefined : mintKey(store, { scopes: ['admin'], label: 'first start' });

/** True when the key may do what needs `scope`; `admin` includes every other. */
export const hasScope = ({ scopes }: Pick<ApiKey, 'scopes'>, scope: Scope): boolean =>
  scopes.includes(scope) || scopes.includes('admin');

interface Remembered {
  readonly key: ApiKey | undefined;
  readonly untilMs: number;
}

/** Tells whose key a text is. Keys are remembered for a few seconds, unknown ids too: a flood of bad ones costs the database little. */
export class Keyring {
  private readonly remembered = new Map<string, Remembered>();
  private readonly underWay = new Map<string, Promise<ApiKey | undefined>>();

  constructor(
    private readonly store: Pick<KeyStore, 'find'>,
    private readonly cacheMs: number = KEY_CACHE_MS,
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * The key of this text, or undefined when it is none, is unknown, or is revoked. Answers at once when the key is remembered.
   * Raises UnavailableError when the store can't be asked.
   */
  authenticate(text: string): ApiKey | undefined | Promise<ApiKey | undefined> {
    const id = KEY_TEXT.exec(text)?.[1];
    if (id === undefined) return undefined;
    const known = this.remembered.get(id);
    if (known !== undefined && known.untilMs > this.now()) return this.verify(text, known.key);
    return this.lookUp(id).then((key) => this.verify(text, key));
  }

  private verify(text: string, key: ApiKey | undefined): ApiKey | undefined {
    // An unknown id is compared all the same, so that time does not tell it from a wrong secret.
    const same = timingSafeEqual(digestOf(text), key?.secretSha256 ?? NO_SECRET);
    return same && key?.revokedAtMs === undefined ? key : undefined;
  }

  private lookUp(id: string): Promise<ApiKey | undefined> {
    const asked = this.underWay.get(id);
    if (asked !== undefined) return asked;
    const looking = this.store
      .find(id)
      .then((key) => {
        this.remember(id, key);
        return key;
      })
      .finally(() => this.underWay.delete(id));
    this.underWay.set(id, looking);
    return looking;
  }

  private remember(id: string, key: ApiKey | undefined): void {
    this.remembered.delete(id);
    if (this.remembered.size >= CACHE_MAX) {
      const [oldest] = this.remembered.keys();
      if (oldest !== undefined) this.remembered.delete(oldest);
    }
    this.remembered.set(id, { key, untilMs: this.now() + this.cacheMs });
  }
}

const NO_SECRET = Buffer.alloc(32);
