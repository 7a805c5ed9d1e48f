import { RedisFault, RedisSettingError } from './errors.js';

/** What a server says of itself. */
export interface ServerInfo {
  /** New at every start of the process. */
  readonly runId: string;
  /** New whenever this server's data may come from elsewhere than before: a failover, a full copy. */
  readonly replId: string;
  readonly version: string;
  readonly cluster: boolean;
}

/** The fields of an answer to INFO. */
export const infoFields = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split(/\r?\n/).flatMap((line): [string, string][] => {
      const colon = line.indexOf(':');
      return colon === -1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
    }),
  );

/** Whether the server that gave these fields is one of a Cluster. */
export const isCluster = (fields: ReadonlyMap<string, string>): boolean =>
  fields.get('redis_mode') === 'cluster' || fields.get('cluster_enabled') === '1';

/**
 * Reads the answer to INFO. Raises RedisSettingError when this Redis would evict balances (eviction forgets money),
 * RedisFault when it is no master, or does not say what is needed.
 */
export const readServerInfo = (text: string): ServerInfo => {
  const fields = infoFields(text);
  const policy = fields.get('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction')
    throw new RedisSettingError(
      'maxmemory-policy',
      `Redis has maxmemory-policy ${policy}, with which it forgets balances. Set it to noeviction: CONFIG SET maxmemory-policy noeviction, and in its configuration file.`,
    );
  const role = fields.get('role');
  if (role !== 'master') throw new RedisFault('refused', `This Redis server is a ${role ?? 'server of unknown role'}.`);
  const [runId, replId] = [fields.get('run_id'), fields.get('master_replid')];
  if (runId === undefined || replId === undefined)
    throw new RedisFault('refused', 'Redis does not tell its run_id and master_replid by INFO.');
  return {
    runId,
    replId,
    version: fields.get('redis_version') ?? 'unknown',
    cluster: isCluster(fields),
  };
};
