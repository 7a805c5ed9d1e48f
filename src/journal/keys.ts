import { SCOPES, UnavailableError } from '../core/ports.js';
import type { ApiKey, KeyStore } from '../core/ports.js';
import { SQLSTATE, StatementError } from './errors.js';
import type { Row } from './row.js';
import type { Sessions } from './sessions.js';
import { call } from './statement.js';
import type { Statement } from './statement.js';

const LIST_MAX = 10_000;

const COLUMNS = `id, encode(secret_sha256, 'hex'), tenant, scopes, label,
  (extract(epoch from created_at) * 1000)::bigint, (extract(epoch from revoked_at) * 1000)::bigint`;

const keyFrom = (row: Row): ApiKey => {
  const tenant = row.optionalText(2);
  const revokedAtMs = row.optionalInt(6);
  return {
    id: row.text(0),
    secretSha256: Buffer.from(row.text(1), 'hex'),
    ...(tenant === undefined ? {} : { tenant }),
    scopes: row.texts(3).map((name) => {
      const scope = SCOPES.find((one) => one === name);
      if (scope === undefined) throw new Error(`A stored key has the scope ${name}, which this program does not know.`);
      return scope;
    }),
    label: row.text(4),
    createdAtMs: row.int(5),
    ...(revokedAtMs === undefined ? {} : { revokedAtMs }),
  };
};

const keyStatement = (name: string, text: string): Statement<ApiKey> => ({ name, text, read: keyFrom });

const findKey = keyStatement('find_key', `select ${COLUMNS} from holdfast.api_keys where id = $1::text`);
const listKeys = keyStatement(
  'list_keys',
  `select ${COLUMNS} from holdfast.api_keys order by created_at, id limit ${LIST_MAX.toString()}`,
);
const insertKey = keyStatement(
  'insert_key',
  `insert into holdfast.api_keys (id, secret_sha256, tenant, scopes, label)
    values ($1::text, $2::bytea, $3::text, $4::text[], $5::text) returning ${COLUMNS}`,
);
const revokeKey = keyStatement(
  'revoke_key',
  `update holdfast.api_keys set revoked_at = coalesce(revoked_at, clock_timestamp())
    where id = $1::text returning ${COLUMNS}`,
);

export const KEY_STATEMENTS: readonly Statement<unknown>[] = [findKey, listKeys, insertKey, revokeKey];

/** Bearer keys in Postgres. */
export class PostgresKeys implements KeyStore {
  readonly #sessions: Sessions;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  async find(id: string): Promise<ApiKey | undefined> {
    const [[key]] = await this.#sessions.read((session) => session.run(call(findKey, id)));
    return key;
  }

  async list(): Promise<readonly ApiKey[]> {
    const [keys] = await this.#sessions.read((session) => session.run(call(listKeys)));
    return keys;
  }

  async insert(key: Omit<ApiKey, 'createdAtMs' | 'revokedAtMs'>): Promise<ApiKey> {
    const scopes = `{${key.scopes.join(',')}}`;
    const secret = `\\x${Buffer.from(key.secretSha256).toString('hex')}`;
    try {
      const [[made]] = await this.#sessions.use((session) =>
        session.run(call(insertKey, key.id, secret, key.tenant ?? null, scopes, key.label)),
      );
      if (made === undefined) throw new Error('A key was stored and not answered.');
      return made;
    } catch (error) {
      throw isTaken(error) ? new Error(`The key id ${key.id} is taken.`, { cause: error }) : error;
    }
  }

  async revoke(id: string): Promise<ApiKey | undefined> {
    const [[key]] = await this.#sessions.use((session) => session.run(call(revokeKey, id)));
    return key;
  }
}

const isTaken = (error: unknown): boolean =>
  error instanceof UnavailableError &&
  error.cause instanceof StatementError &&
  error.cause.code === SQLSTATE.uniqueViolation;
